"""The words of a PDF, page by page, as the reader of a browser finds them."""

from pypdfium2 import PdfDocument


def page_texts(pdf: bytes) -> list[str]:
    """The text of every page, with line breaks as the program that reads it sees them."""
    document = PdfDocument(pdf)
    try:
        return [page.get_textpage().get_text_range() for page in document]
    finally:
        document.close()
