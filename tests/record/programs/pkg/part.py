import sys

WHO = __name__

if __name__ == "__main__":
    print(__name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0])
