/* The compiled core of the reader: a piece of healthy text into columns, and which event lies inside which, both
 * without the interpreter's lock.
 *
 * Of text it takes what PyTorch writes when nothing is wrong. Whatever else it meets, it gives the whole piece back, and
 * stepscope.trace.decoding reads that in Python, so that there is one place that knows what to do with odd text. What
 * it takes, it must read exactly as stepscope.trace.columns does; the tests compare the two.
 */

/* No format with '#' is used: what it calls differs between 3.12 and 3.13, so that a binary would serve one side only. */
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "nest.h"
#include "piece.h"

/* The columns of a table as bytearrays of the right length, still to be filled. */
static PyObject *columns_of(const Rows *rows, char **filled) {
    PyObject *columns = PyDict_New();
    for (size_t number = 0; columns && number < rows->width && rows->count; number++) {
        const Column *column = &rows->columns[number];
        PyObject *values = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(rows->count * column->width));
        if (!values || PyDict_SetItemString(columns, column->name, values) < 0) {
            Py_CLEAR(columns);
        } else {
            filled[number] = PyByteArray_AsString(values);
        }
        Py_XDECREF(values);
    }
    return columns;
}

/* A text; as bytes, with its quotes, where Python has to take escapes out of it. */
static PyObject *string_of(const Span *text, const char *errors) {
    const char *start = (const char *)text->start;
    if (text->is_escaped) {
        return PyBytes_FromStringAndSize(start - 1, (Py_ssize_t)text->length + 2);
    }
    return PyUnicode_DecodeUTF8(start, (Py_ssize_t)text->length, errors);
}

static PyObject *strings_of(const Words *words, const char *errors) {
    PyObject *list = PyList_New((Py_ssize_t)words->count);
    for (size_t number = 0; list && number < words->count; number++) {
        PyObject *text = string_of(&words->words[number].text, errors);
        if (!text || PyList_SetItem(list, (Py_ssize_t)number, text) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *result_of(Piece *piece, const char *start) {
    if (!piece->is_talking) {
        silence(&piece->tables[DEVICE_WORK]);
    }
    PyObject *names = strings_of(&piece->names, "strict");
    PyObject *shapes = names ? strings_of(&piece->shapes, "replace") : NULL;
    PyObject *tables = shapes ? PyTuple_New(TABLES) : NULL;
    char *filled[TABLES][MOST_COLUMNS];
    for (int table = 0; tables && table < TABLES; table++) {
        PyObject *columns = columns_of(&piece->tables[table], filled[table]);
        if (!columns || PyTuple_SetItem(tables, table, columns) < 0) {
            Py_CLEAR(tables);
        }
    }
    PyObject *result = NULL;
    if (tables) {
        // Copies of megabytes, for which other threads need not wait.
        Py_BEGIN_ALLOW_THREADS
        for (int table = 0; table < TABLES; table++) {
            rows_copy(&piece->tables[table], filled[table]);
        }
        Py_END_ALLOW_THREADS
        result = Py_BuildValue("(nLLLLOOO)", (Py_ssize_t)((const char *)piece->scan.at - start),
                               (long long)piece->count, (long long)piece->complete, (long long)piece->python,
                               (long long)piece->rank, names, shapes, tables);
    }
    Py_XDECREF(names);
    Py_XDECREF(shapes);
    Py_XDECREF(tables);
    return result;
}

/* Reads the sequence of (text, table, kind, is_call). */
static bool read_categories(PyObject *listed, Category *categories, size_t *count) {
    const Py_ssize_t length = PyTuple_Size(listed);
    if (length < 0 || length > MOST_CATEGORIES) {
        PyErr_SetString(PyExc_ValueError, "categories must be a tuple of at most 64");
        return false;
    }
    for (Py_ssize_t number = 0; number < length; number++) {
        Category *category = &categories[number];
        PyObject *name;
        const char *text;
        Py_ssize_t size;
        int is_call;
        if (!PyArg_ParseTuple(PyTuple_GetItem(listed, number), "Oiip", &name, &category->table, &category->kind,
                              &is_call)) {
            return false;
        }
        text = PyUnicode_AsUTF8AndSize(name, &size);
        if (!text) {
            return false;
        }
        if (size >= LONGEST_CATEGORY) {
            PyErr_SetString(PyExc_ValueError, "a category is longer than 63 bytes");
            return false;
        }
        memcpy(category->text, text, (size_t)size);
        category->length = (size_t)size;
        category->is_call = is_call;
    }
    *count = (size_t)length;
    return true;
}

PyDoc_STRVAR(DECODE, "decode(text: bytes, categories: tuple, with_python: bool, is_inside: bool) -> tuple | None\n\n"
                     "Columns of a JSON array of events; None when Python has to read it. With is_inside the text begins\n"
                     "behind the [ of the array, and may end behind an event instead of at its ].");

static PyObject *decode(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *array, *listed;
    char *start;
    Py_ssize_t length;
    int with_python, is_inside;
    Category categories[MOST_CATEGORIES];
    Piece piece;
    memset(&piece, 0, sizeof(piece));
    if (!PyArg_ParseTuple(arguments, "OOpp", &array, &listed, &with_python, &is_inside) ||
        PyBytes_AsStringAndSize(array, &start, &length) < 0 ||
        !read_categories(listed, categories, &piece.category_count)) {
        return NULL;
    }
    piece.scan.at = (const unsigned char *)start;
    piece.scan.end = (const unsigned char *)start + length;
    piece.categories = categories;
    piece.with_python = with_python;
    bool is_read;
    Py_BEGIN_ALLOW_THREADS
    piece.no_memory = !piece_open(&piece);
    is_read = !piece.no_memory && take_list(&piece, is_inside);
    Py_END_ALLOW_THREADS
    PyObject *result = NULL;
    if (piece.no_memory) {
        PyErr_NoMemory();
    } else if (!is_read) {
        result = Py_NewRef(Py_None);
    } else {
        result = result_of(&piece, start);
        if (!result && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
            PyErr_Clear();
            result = Py_NewRef(Py_None);
        }
    }
    Py_BEGIN_ALLOW_THREADS
    piece_close(&piece);
    Py_END_ALLOW_THREADS
    return result;
}

PyDoc_STRVAR(NEST, "nest(threads: int, thread: bytes, start: bytes, end: bytes) -> tuple\n\n"
                   "Depth, parent and self time of events; all are columns of 64-bit numbers.");

static PyObject *nest(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_ssize_t threads, size[3];
    char *columns[3];
    PyObject *given[3];
    if (!PyArg_ParseTuple(arguments, "nOOO", &threads, &given[0], &given[1], &given[2])) {
        return NULL;
    }
    for (int column = 0; column < 3; column++) {
        if (PyBytes_AsStringAndSize(given[column], &columns[column], &size[column]) < 0) {
            return NULL;
        }
    }
    if (size[0] != size[1] || size[0] != size[2] || size[0] % LONG) {
        PyErr_SetString(PyExc_ValueError, "columns must be of one length");
        return NULL;
    }
    PyObject *made[3];
    for (int column = 0; column < 3; column++) {
        made[column] = PyByteArray_FromStringAndSize(NULL, size[0]);
    }
    PyObject *result = NULL;
    int64_t *open = malloc((size_t)(threads > 0 ? threads : 1) * LONG);
    if (!open) {
        PyErr_NoMemory();
    } else if (made[0] && made[1] && made[2]) {
        int64_t *depth = (int64_t *)PyByteArray_AsString(made[0]), *parent = (int64_t *)PyByteArray_AsString(made[1]),
                *own = (int64_t *)PyByteArray_AsString(made[2]);
        const Lanes lanes = {(const int64_t *)columns[0], (const int64_t *)columns[1], (const int64_t *)columns[2],
                             (size_t)size[0] / LONG, threads};
        bool is_done;
        Py_BEGIN_ALLOW_THREADS
        is_done = nest_all(&lanes, open, depth, parent, own);
        Py_END_ALLOW_THREADS
        if (is_done) {
            result = PyTuple_Pack(3, made[0], made[1], made[2]);
        } else {
            PyErr_SetString(PyExc_ValueError, "a thread's number is out of range");
        }
    }
    free(open);
    for (int column = 0; column < 3; column++) {
        Py_XDECREF(made[column]);
    }
    return result;
}

static PyMethodDef METHODS[] = {
    {"decode", decode, METH_VARARGS, DECODE}, {"nest", nest, METH_VARARGS, NEST}, {NULL, NULL, 0, NULL}};

static int execute(PyObject *module) {
    event_prepare();
    PyObject *keys = PyTuple_New(ARGUMENTS);
    for (int number = 0; keys && number < ARGUMENTS; number++) {
        PyObject *key = PyUnicode_FromString(KEYS[number].text);
        if (!key || PyTuple_SetItem(keys, number, key) < 0) {
            Py_CLEAR(keys);
        }
    }
    const int status = keys ? PyObject_SetAttrString(module, "ARGUMENTS", keys) : -1;
    Py_XDECREF(keys);
    return status;
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_core", "The compiled core of the reader.", 0, METHODS, SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&MODULE); }
