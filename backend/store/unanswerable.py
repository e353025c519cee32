"""Questions that are well formed and still cannot be answered."""


class Unanswerable(LookupError):
    """What is wrong, as a sentence, with which parameter of the question."""

    def __init__(self, parameter: str, sentence: str) -> None:
        super().__init__(sentence)
        self.parameter, self.sentence = parameter, sentence
