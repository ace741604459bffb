def try_kills(book, folder):
    pass


def try_signals(book, folder):
    pass
