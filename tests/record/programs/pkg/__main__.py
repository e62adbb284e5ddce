import sys

from pkg import part

print(__name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0], part.WHO)
sys.exit(5)
