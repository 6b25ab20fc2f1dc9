"""Answers as an engineer would write them down: what `print(answer)` shows.

One function per kind of answer, named in the column `text` of `answers/registry.py`.
"""
