"""Users."""


class HalfDuplexUser:
    pass
