/* Rows of one table while a piece is read, column by column. */

#ifndef STEPSCOPE_ROWS_H
#define STEPSCOPE_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define MOST_COLUMNS 24

typedef struct {
    const char *name;
    size_t width; /* bytes of a value */
} Column;

typedef struct {
    const Column *columns;
    size_t width, count, room;
    void *values[MOST_COLUMNS];
} Rows;

static void rows_open(Rows *self, const Column *columns, size_t width) {
    memset(self, 0, sizeof(*self));
    self->columns = columns;
    self->width = width;
}

static void rows_close(Rows *self) {
    for (size_t column = 0; column < self->width; column++) {
        free(self->values[column]);
    }
}

/* Copies the columns to places of their length. */
static void rows_copy(const Rows *self, char *const *places) {
    for (size_t column = 0; column < self->width && self->count; column++) {
        memcpy(places[column], self->values[column], self->count * self->columns[column].width);
    }
}

/* Makes room for one more row; false when there is no memory. */
static inline bool rows_more(Rows *self) {
    if (self->count < self->room) {
        return true;
    }
    size_t room = self->room ? self->room * 2 : 1024;
    for (size_t column = 0; column < self->width; column++) {
        void *values = realloc(self->values[column], room * self->columns[column].width);
        if (!values) {
            return false;
        }
        self->values[column] = values;
    }
    self->room = room;
    return true;
}

#define PUT(rows, type, column, value) (((type *)(rows)->values[column])[(rows)->count] = (value))

#endif
