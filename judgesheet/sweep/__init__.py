"""The same questions under several values of one request parameter (Xu et al., appendix C)."""
