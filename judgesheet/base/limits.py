"""Every limit of the package, with its reason; whom they guard against: `docs/security.md`.

Of what is not trusted there (replies, run folders, logs, tables, sheets, policies, templates) one
text, body or page may take `LARGEST_TEXT` bytes; most other limits on them are parts of that. The
rest bounds what a computation holds and what a page has room for. How many of a thing are *needed*
is no limit, and stands with the figure that needs it.
"""

# -- one text, one rendering -----------------------------------------------------------------------

LARGEST_TEXT = 64_000_000
"""Bytes of a file that is searched, and of all that one rendering makes: so much is held some times
over without harm."""
LARGEST_SHEET = LARGEST_TEXT // 4
"""Bytes of a sheet: the largest that was seen has three million."""
MOST_PARTS_OF_A_SHEET = 20_000
"""Objects in a sheet: the largest that was seen has half as many; 300 figures have 1,200."""
LARGEST_PAGE = LARGEST_TEXT // 64
"""Characters of a page as the typesetter is given it, which takes a minute or two for a million:
that of 300 figures has a tenth."""
LONGEST_PAGE_S = 60.0
"""Seconds that a page of a user's own may take to set: one of two pages takes about two."""
MOST_MEMORY = 64 * LARGEST_TEXT
"""Bytes of the process that sets it."""
LARGEST_WHOLE = 2**63
"""Whole numbers are below it: tables hold 64 bits."""

# -- files of others -------------------------------------------------------------------------------

LONGEST_BODY = LARGEST_TEXT // 8
"""Bytes of an endpoint's answer that are read, unpacked too: eight are held at once with ease."""
LONGEST_LINE = LONGEST_BODY // 2
"""Characters of a line, a cell, or a body that is kept with its log-probabilities: a thousand
tokens with 20 alternatives are 1.6 million. A longer line cannot be a stimulus."""
LARGEST_BATCH = 64 * LONGEST_LINE
"""Bytes of 64 rows of a Parquet file, each as long as a line may be."""
LONGEST_DOCUMENT = 200_000_000
"""Characters of a line of a plan, of a log that is one document, or of one sample of an archive:
all stimuli or a whole evaluation stand in it, which is more than a text."""
LARGEST_TABLE = 5 * LONGEST_DOCUMENT
"""Characters of a table: all of its rows are held at once."""
MOST_LINES = 10_000_000
"""Of a file; the largest import that was measured has 562,562."""
MOST_ROWS = MOST_LINES // 5
"""Of a table of verdicts that is corrected, whose rows are held at once in about 1 GB."""
MOST_MEMBERS = MOST_LINES // 10
"""Of an archive, whose directory is held as a whole."""
MOST_COLUMNS = 1_000
"""Of a table, each row of which is held as a dictionary."""
MOST_FIELDS = 100
"""That the cells of a file may have: each is a column of a table."""
MOST_DEPTH = 100
"""Lists and objects within each other: deeper JSON has no meaning, but a stack that overflows."""
MOST_UNPACKED = 200
"""Times its own size that a packed file may hold, beyond a first million of characters."""
MOST_RECORDS = 200_000
"""Of a log, that are looked at to say what it is."""
MOST_REMEMBERED_ROWS = 10_000
"""Cells, verdicts on them and rows with their values that are held: those of a response stand
together."""
LARGEST_COUNT = 10**9
"""Tokens of a call, and a rating, whichever its sign: no scale and no reply reaches so far, and
sums stay sums."""
SMALLEST_NUMBER = 1e-100
"""A rating closer to zero is zero: so is its square, by which sums are divided."""
MOST_REPEATS = 1_000
"""Repeats of a call, and steps that two recorded responses are apart: more is a typing error."""
LONGEST_NAME = 100
"""Characters of what can be the name of a response in a table; what is longer is a text."""
LONGEST_SCALE = 101
"""Scores of a scale: 0 to 100."""
HIGHEST_SCORE = 10_000
"""Scores of stimuli are below it: so are the numbers that are read in replies."""
LONGEST_EPOCH = 11
"""Digits of a date in seconds that calendars hold."""

# -- answers of endpoints --------------------------------------------------------------------------

LONGEST_RAW = LONGEST_LINE // 4
"""Characters of a body that are kept where it has no log-probabilities."""
LONGEST_HEAD = 2**16
"""Bytes of headers that are held back until all are there, and characters of what is exchanged with
another address: a token is short."""
MOST_PARTS_OF_A_BODY = 300_000
"""Lists and objects in a body; log-probabilities of 7,000 tokens are fewer."""
MOST_CODINGS = 4
"""By which a body is packed, one after the other."""
LONGEST_NAME = 200
"""Characters of a served model's name, or a reason to stop, that are kept."""
LONGEST_ADDRESS = 8_000
"""Characters of a base URL: servers take about as many."""
LONGEST_TIME = 64
"""Characters of a time in a header."""
MOST_COMPLAINTS, LONGEST_COMPLAINT = 100, 2_000
"""Texts of an error that are looked at, and characters of each."""
LONGEST_WAIT_S = 366 * 86_400.0
"""Seconds that a server can ask to wait: a year says never."""
MOST_REMEMBERED = 64
"""Secrets of earlier requests, which a late answer may still quote."""
LONGEST_PAUSE_S = 30.0
"""Between two requests of an outage: so late is it noticed at most that it is over."""
MOST_DOUBLINGS = 30
"""Of a pause: beyond a century."""
LONGEST_REPLY = 4_096
"""Tokens, where a call names no limit."""

# -- reading replies -------------------------------------------------------------------------------

LONGEST_ANSWER = 100_000
"""Characters of an answer, and of what a page shows of a reply or of a line of its prompt; nothing
longer is one."""
LONGEST_THOUGHT = 5 * LONGEST_ANSWER
"""Characters of a reply with its thought, about what 128,000 tokens are."""
LONGEST_LOOK = LONGEST_ANSWER // 5
"""Characters that are looked at to say what shape a reply or a recorded template has, and in which
objects are sought that are spelled loosely."""
LONGEST_LOOSE = 8_000
"""Characters of one such object."""
MOST_LINES_OF_AN_ANSWER, MOST_BRACKETS = 5_000, 1_000
"""What has more of them is no answer, and would take long to read."""
MOST_MATCHES = 1_000
"""Of a pattern, or objects, that are examined in one reply; one with more is unreadable."""

# -- questions -------------------------------------------------------------------------------------

LONGEST_RUBRIC = 11
"""Described scores, such as 0 to 10: each has its description, and twice as many orders."""
MOST_DIGITS = 9
"""Scores of an order that is written as a number."""
MOST_CRITERIA = 8
"""Of a stimulus; the number of orders and calls grows with them."""
MOST_RECORDED = 20
"""Criteria in a recorded order."""
LONGEST_CRITERION = 60
"""Characters of its name, which a reply must repeat."""
MOST_CANDIDATES = 26
"""As many as there are letters to call them by."""
MOST_REVERSED = 8
"""Longer lists are shown in their n forward rotations only, to keep the number of calls in n."""
LONGEST_KEY = 2_000
"""Characters of a key of the sheet."""

# -- computing -------------------------------------------------------------------------------------

MOST_WITH_EXAMPLES = 50_000
"""Calls of an axis, each held as an object; of more no example of an effect is looked for."""
MOST_KEPT = 100_000_000
"""Numbers of bootstraps that are kept, two bytes each: those of 50,000 clusters."""
MOST_MOVED = 5 * MOST_KEPT
"""Calls of all draws together: of more than 100,000 calls there are fewer draws."""
MOST_ONE_BY_ONE = 20_000
"""Clusters, items and calls that are drawn one by one; of more, draws are shared or stored."""
MOST_DELETIONS = 200
"""Clusters that a jackknife deletes: 200 values estimate a variance to 10 %."""
MOST_GROUPS = 2_000
"""Of stimuli that are drawn in comparisons; of more, several are drawn together."""
MOST_PAIRED = 1_000
"""Responses to a prompt whose pairs are counted: half a million pairs say enough of one prompt."""
MOST_SYSTEMS = 300
"""Systems of a table: each is compared with every other one, 45,000 differences in all."""
LARGEST_T = 1e3
"""Beyond this lies nothing that is told apart."""
MOST_DECIMALS = 4
"""Of a coefficient; a percentage has two at most."""
MOST_CALLS_OF_A_PAGE = 5_000
"""Of a run with which the page of its cases is written unasked: a second or two."""
MOST_STIMULI_TRIED, MOST_CALLS_TRIED = 100, 2_000
"""How much of a log is measured to say what it would show."""
MOST_ROWS_TRIED = 500
"""Of a table, with which its other uses are tried."""

# -- what a page or a sentence has room for --------------------------------------------------------

LONGEST_MESSAGE = 1_500
"""Characters of a message: more is what it quotes."""
MOST_NAMED = 2
"""Things that a sentence of the sheet names before it counts the others."""
MOST_ON_PAGE_ONE = 3
"""Effects and open limits that page one names before it counts the others."""
MOST_EXAMPLES = 3
"""The same where the reader has to go to each; the appendix, or `given`, has all."""
MOST_KINDS = 5
"""Kinds of failure and reasons to stop; a server may make up a new one for every call."""
MOST_SHOWN = 6
"""Key figures of a model card, and mitigations on page one."""
MOST_LISTED = 8
"""Names in a complaint or a suggestion, and columns of a wide table."""
MOST_DRAWN_LINES = 10
"""Scores, or lines of a prompt: page two has room for no more."""
MOST_IN_A_LIST = 12
"""Names, papers, rows and values in a list: a stranger's sheet or log may have any number."""
MOST_DRAWN = 24
"""Labels, rows and limits that are drawn on one page; more cannot be told apart."""
MOST_CAVEATS = 100
"""Of an axis, that are printed: ours have a dozen, and ten thousand take ten seconds to set."""
