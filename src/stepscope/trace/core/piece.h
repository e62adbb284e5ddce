/* A piece of text while it becomes columns: which events go to which table, and how. */

#ifndef STEPSCOPE_PIECE_H
#define STEPSCOPE_PIECE_H

#include <math.h>

#include "event.h"
#include "rows.h"
#include "words.h"

enum { HOST, DEVICE_WORK, MEMORY, SPANS, FLOWS, TABLES, PYTHON = TABLES, NOT_WORK, UNKNOWN };

#define LONG sizeof(int64_t)
#define CODE sizeof(int32_t)
#define TINY sizeof(int8_t)

enum {
    H_START, H_DURATION, H_KIND, H_PID, H_TID, H_CORRELATION, H_EXTERNAL, H_INDEX, H_SEQUENCE, H_FORWARD, H_OPEN,
    H_DIMS, H_TYPES, H_NAME, H_WIDTH
};
static const Column HOST_COLUMNS[H_WIDTH] = {
    {"start_ns", LONG}, {"dur_ns", LONG}, {"kind", TINY}, {"pid", LONG}, {"tid", LONG}, {"correlation", LONG},
    {"external_id", LONG}, {"event_index", LONG}, {"sequence", LONG}, {"forward_thread", LONG}, {"is_open", TINY},
    {"input_dims", CODE}, {"input_types", CODE}, {"name", CODE},
};

enum {
    D_START, D_DURATION, D_KIND, D_DEVICE, D_STREAM, D_CORRELATION, D_EXTERNAL, D_BYTES, D_BLOCKS, D_THREADS,
    D_BLOCKS_PER_SM, D_WARPS_PER_SM, D_OCCUPANCY, D_COLLECTIVE, D_DTYPE, D_GROUP, D_ELEMENTS, D_GROUP_SIZE, D_SEQUENCE,
    D_NAME, D_WIDTH
};
static const Column DEVICE_COLUMNS[D_WIDTH] = {
    {"start_ns", LONG}, {"dur_ns", LONG}, {"kind", TINY}, {"device", LONG}, {"stream", LONG}, {"correlation", LONG},
    {"external_id", LONG}, {"bytes", LONG}, {"blocks", LONG}, {"threads_per_block", LONG},
    {"blocks_per_sm", sizeof(double)}, {"warps_per_sm", sizeof(double)}, {"occupancy_percent", sizeof(double)},
    {"collective", CODE}, {"collective_dtype", CODE}, {"group_name", CODE}, {"collective_elements", LONG},
    {"group_size", LONG}, {"sequence", LONG}, {"name", CODE},
};

enum { M_TIME, M_TYPE, M_DEVICE, M_BYTES, M_ALLOCATED, M_RESERVED, M_ADDRESS, M_PID, M_TID, M_WIDTH };
static const Column MEMORY_COLUMNS[M_WIDTH] = {
    {"time_ns", LONG}, {"device_type", LONG}, {"device_id", LONG}, {"bytes", LONG}, {"total_allocated_bytes", LONG},
    {"total_reserved_bytes", LONG}, {"address", LONG}, {"pid", LONG}, {"tid", LONG},
};

enum { S_START, S_DURATION, S_WIDTH };
static const Column SPAN_COLUMNS[S_WIDTH] = {{"start_ns", LONG}, {"dur_ns", LONG}};

enum { F_IS_START, F_ID, F_PID, F_TID, F_TIME, F_WIDTH };
static const Column FLOW_COLUMNS[F_WIDTH] = {
    {"is_start", TINY}, {"id", LONG}, {"pid", LONG}, {"tid", LONG}, {"time_ns", LONG},
};

#define MOST_CATEGORIES 64
#define LONGEST_CATEGORY 64
#define NO_STREAM 4294967295

/* What a category means: a table, and the number of the kind in it. */
typedef struct {
    char text[LONGEST_CATEGORY];
    size_t length;
    int table, kind;
    bool is_call;
} Category;

typedef struct {
    Scan scan;
    const Category *categories;
    size_t category_count;
    const Category *last; /* neighbours are mostly of one category */
    bool with_python, is_talking, no_memory;
    Rows tables[TABLES];
    Words names, shapes;
    int64_t count, complete, python, rank;
} Piece;

static const Category *category_of(Piece *piece, const Span *text) {
    char lower[LONGEST_CATEGORY];
    if (piece->last && span_is(text, piece->last->text, piece->last->length)) {
        return piece->last;
    }
    if (text->length >= LONGEST_CATEGORY) {
        return NULL;
    }
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = text->start[i];
        lower[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    for (size_t number = 0; number < piece->category_count; number++) {
        const Category *category = &piece->categories[number];
        if (category->length == text->length && memcmp(category->text, lower, text->length) == 0) {
            return piece->last = category;
        }
    }
    return NULL;
}

/* Makes room for a row and remembers when there is no memory. */
static inline Rows *row_of(Piece *piece, int table) {
    Rows *rows = &piece->tables[table];
    if (!rows_more(rows)) {
        piece->no_memory = true;
        return NULL;
    }
    return rows;
}

static inline bool number_of(Piece *piece, Words *words, const Span *text, int32_t *number) {
    *number = words_number(words, text);
    piece->no_memory |= *number < 0;
    return *number >= 0;
}

static inline bool text_of(Piece *piece, Words *words, const Event *event, int argument, int32_t *number) {
    *number = -1;
    return !HAS(event, argument) || number_of(piece, words, &event->texts[argument - COLLECTIVE], number);
}

static inline int64_t external_of(const Event *event) {
    int64_t found = whole_of(event, EXTERNAL_ID);
    return found == ABSENT ? whole_of(event, OLD_EXTERNAL_ID) : found;
}

static inline bool is_timed(const Event *event) {
    return event->has_start && event->start_is_plain && event->duration_is_plain;
}

static bool add_host(Piece *piece, const Event *event, const Category *category) {
    int32_t name, dims = -1, types = -1;
    Rows *rows = row_of(piece, HOST);
    if (!rows || !is_timed(event) || event->pid_is_text || event->tid_is_text ||
        !number_of(piece, &piece->names, &event->name, &name)) {
        return false;
    }
    const bool is_call = category->is_call;
    if (!is_call && (!text_of(piece, &piece->shapes, event, INPUT_DIMS, &dims) ||
                     !text_of(piece, &piece->shapes, event, INPUT_TYPES, &types))) {
        return false;
    }
    if (piece->rank < 0 && HAS(event, RANK) && IS(event->name, "record_param_comms")) {
        piece->rank = event->wholes[RANK];
    }
    PUT(rows, int64_t, H_START, event->start);
    PUT(rows, int64_t, H_DURATION, event->duration);
    PUT(rows, int8_t, H_KIND, (int8_t)category->kind);
    PUT(rows, int64_t, H_PID, event->pid);
    PUT(rows, int64_t, H_TID, event->tid);
    PUT(rows, int64_t, H_CORRELATION, whole_of(event, CORRELATION));
    PUT(rows, int64_t, H_EXTERNAL, external_of(event));
    PUT(rows, int64_t, H_INDEX, whole_of(event, EVENT_INDEX));
    PUT(rows, int64_t, H_SEQUENCE, is_call ? ABSENT : whole_of(event, SEQUENCE));
    PUT(rows, int64_t, H_FORWARD, is_call ? ABSENT : whole_of(event, FORWARD_THREAD));
    PUT(rows, int8_t, H_OPEN, !is_call && event->is_open);
    PUT(rows, int32_t, H_DIMS, dims);
    PUT(rows, int32_t, H_TYPES, types);
    PUT(rows, int32_t, H_NAME, name);
    rows->count++;
    return true;
}

static inline double fraction_of(const Event *event, int argument) {
    return HAS(event, argument) ? event->fractions[argument - BLOCKS_PER_SM] : (double)NAN;
}

static inline int64_t product_of(const Event *event, int argument) {
    return HAS(event, argument) ? event->products[argument - GRID] : ABSENT;
}

/* The device or stream that the arguments state, else the process or thread; false when that is a word. */
static inline bool place_of(int64_t stated, int64_t other, bool is_text, int64_t *place) {
    *place = stated == ABSENT ? other : stated;
    return stated != ABSENT || !is_text;
}

static bool add_device(Piece *piece, const Event *event, const Category *category) {
    int32_t name, collective, dtype, group;
    int64_t device = whole_of(event, DEVICE), stream;
    Rows *rows = row_of(piece, DEVICE_WORK);
    if (device == ABSENT) {
        device = whole_of(event, FROM_DEVICE);
    }
    if (!rows || !is_timed(event) || !place_of(device, event->pid, event->pid_is_text, &device) ||
        !place_of(whole_of(event, STREAM), event->tid, event->tid_is_text, &stream) ||
        !number_of(piece, &piece->names, &event->name, &name) ||
        !text_of(piece, &piece->names, event, COLLECTIVE, &collective) ||
        !text_of(piece, &piece->names, event, DTYPE, &dtype) ||
        !text_of(piece, &piece->names, event, GROUP_NAME, &group)) {
        return false;
    }
    const int64_t in = whole_of(event, IN_ELEMENTS), out = whole_of(event, OUT_ELEMENTS);
    piece->is_talking |= collective >= 0;
    PUT(rows, int64_t, D_START, event->start);
    PUT(rows, int64_t, D_DURATION, event->duration);
    PUT(rows, int8_t, D_KIND, (int8_t)category->kind);
    PUT(rows, int64_t, D_DEVICE, device);
    PUT(rows, int64_t, D_STREAM, stream == NO_STREAM ? -1 : stream);
    PUT(rows, int64_t, D_CORRELATION, whole_of(event, CORRELATION));
    PUT(rows, int64_t, D_EXTERNAL, external_of(event));
    PUT(rows, int64_t, D_BYTES, whole_of(event, BYTES));
    PUT(rows, int64_t, D_BLOCKS, product_of(event, GRID));
    PUT(rows, int64_t, D_THREADS, product_of(event, BLOCK));
    PUT(rows, double, D_BLOCKS_PER_SM, fraction_of(event, BLOCKS_PER_SM));
    PUT(rows, double, D_WARPS_PER_SM, fraction_of(event, WARPS_PER_SM));
    PUT(rows, double, D_OCCUPANCY, fraction_of(event, OCCUPANCY));
    PUT(rows, int32_t, D_COLLECTIVE, collective);
    PUT(rows, int32_t, D_DTYPE, dtype);
    PUT(rows, int32_t, D_GROUP, group);
    PUT(rows, int64_t, D_ELEMENTS, in > out ? in : out);
    PUT(rows, int64_t, D_GROUP_SIZE, whole_of(event, GROUP_SIZE));
    PUT(rows, int64_t, D_SEQUENCE, whole_of(event, COLLECTIVE_SEQUENCE));
    PUT(rows, int32_t, D_NAME, name);
    rows->count++;
    return true;
}

static bool add_memory(Piece *piece, const Event *event) {
    Rows *rows = row_of(piece, MEMORY);
    if (!rows || !event->has_start || !event->start_is_plain || event->pid_is_text || event->tid_is_text) {
        return false;
    }
    PUT(rows, int64_t, M_TIME, event->start);
    PUT(rows, int64_t, M_TYPE, whole_of(event, DEVICE_TYPE));
    PUT(rows, int64_t, M_DEVICE, whole_of(event, DEVICE_ID));
    PUT(rows, int64_t, M_BYTES, whole_of(event, MEMORY_BYTES));
    PUT(rows, int64_t, M_ALLOCATED, whole_of(event, TOTAL_ALLOCATED));
    PUT(rows, int64_t, M_RESERVED, whole_of(event, TOTAL_RESERVED));
    PUT(rows, int64_t, M_ADDRESS, whole_of(event, ADDRESS));
    PUT(rows, int64_t, M_PID, event->pid);
    PUT(rows, int64_t, M_TID, event->tid);
    rows->count++;
    return true;
}

static bool add_span(Piece *piece, const Event *event) {
    Rows *rows = row_of(piece, SPANS);
    if (!rows || !is_timed(event)) {
        return false;
    }
    PUT(rows, int64_t, S_START, event->start);
    PUT(rows, int64_t, S_DURATION, event->duration);
    rows->count++;
    return true;
}

static bool add_flow(Piece *piece, const Event *event) {
    Rows *rows = row_of(piece, FLOWS);
    if (!rows || !event->has_start || !event->start_is_plain || event->pid_is_text || event->tid_is_text ||
        event->id_is_text) {
        return false;
    }
    PUT(rows, int8_t, F_IS_START, *event->ph.start == 's');
    PUT(rows, int64_t, F_ID, event->id);
    PUT(rows, int64_t, F_PID, event->pid);
    PUT(rows, int64_t, F_TID, event->tid);
    PUT(rows, int64_t, F_TIME, event->start);
    rows->count++;
    return true;
}

/* An event whose name nobody keeps, which Python would still refuse when it is no UTF-8. */
static inline bool passes(const Event *event) { return event->name.is_ascii; }

static bool add_complete(Piece *piece, const Event *event) {
    const Category *category = category_of(piece, &event->cat);
    if (!category) {
        return false;
    }
    piece->complete++;
    switch (category->table) {
    case HOST:
        return add_host(piece, event, category);
    case DEVICE_WORK:
        return add_device(piece, event, category);
    case MEMORY:
        return passes(event) && add_memory(piece, event);
    case SPANS:
        return passes(event) && add_span(piece, event);
    case PYTHON:
        piece->python++;
        return piece->with_python ? add_host(piece, event, category) : passes(event);
    default:
        return passes(event);
    }
}

static bool add_event(Piece *piece, const Event *event) {
    piece->count++;
    if (event->ph.length != 1) {
        return passes(event);
    }
    switch (*event->ph.start) {
    case 'X':
        return add_complete(piece, event);
    case 'i':
        if (IS(event->cat, "cpu_instant_event") || (event->cat.length == 0 && IS(event->name, "[memory]"))) {
            return passes(event) && add_memory(piece, event);
        }
        return passes(event);
    case 's':
    case 'f':
        return passes(event) && (IS(event->cat, "fwdbwd") || add_flow(piece, event));
    default:
        return passes(event);
    }
}

/* Reads a list of events up to behind its end; false for a piece that Python has to read. One that begins inside the
 * list may also end there, behind an event. */
static bool take_list(Piece *piece, bool is_inside) {
    Event event;
    Scan *scan = &piece->scan;
    skip_space(scan);
    if (!is_inside && !take(scan, '[')) {
        return false;
    }
    skip_space(scan);
    if (take(scan, ']')) {
        return true;
    }
    do {
        skip_space(scan);
        if (!take_event(scan, &event) || !add_event(piece, &event)) {
            return false;
        }
        skip_space(scan);
    } while (take(scan, ','));
    return take(scan, ']') || (is_inside && scan->at == scan->end);
}

static bool piece_open(Piece *piece) {
    rows_open(&piece->tables[HOST], HOST_COLUMNS, H_WIDTH);
    rows_open(&piece->tables[DEVICE_WORK], DEVICE_COLUMNS, D_WIDTH);
    rows_open(&piece->tables[MEMORY], MEMORY_COLUMNS, M_WIDTH);
    rows_open(&piece->tables[SPANS], SPAN_COLUMNS, S_WIDTH);
    rows_open(&piece->tables[FLOWS], FLOW_COLUMNS, F_WIDTH);
    piece->rank = -1;
    return words_open(&piece->names) && words_open(&piece->shapes);
}

static void piece_close(Piece *piece) {
    for (int table = 0; table < TABLES; table++) {
        rows_close(&piece->tables[table]);
    }
    words_close(&piece->names);
    words_close(&piece->shapes);
}

/* Where no collective was seen, data types and groups are not asked for. */
static void silence(Rows *rows) {
    for (size_t row = 0; row < rows->count; row++) {
        ((int32_t *)rows->values[D_DTYPE])[row] = -1;
        ((int32_t *)rows->values[D_GROUP])[row] = -1;
    }
}

#endif
