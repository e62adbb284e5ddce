/* One event of a trace: its fields and those of its arguments that any table needs. */

#ifndef STEPSCOPE_EVENT_H
#define STEPSCOPE_EVENT_H

#include "scan.h"

/* Arguments whose values are whole numbers; the order is that of NUMBERS. */
enum {
    CORRELATION, EXTERNAL_ID, OLD_EXTERNAL_ID, EVENT_INDEX, SEQUENCE, FORWARD_THREAD, DEVICE, FROM_DEVICE, STREAM,
    BYTES, IN_ELEMENTS, OUT_ELEMENTS, GROUP_SIZE, COLLECTIVE_SEQUENCE, RANK, MEMORY_BYTES, TOTAL_ALLOCATED,
    TOTAL_RESERVED, DEVICE_TYPE, DEVICE_ID, ADDRESS, WHOLES,
    /* then what is read in other ways */
    BLOCKS_PER_SM = WHOLES, WARPS_PER_SM, OCCUPANCY, GRID, BLOCK, COLLECTIVE, DTYPE, GROUP_NAME, INPUT_DIMS,
    INPUT_TYPES, FINISHED, ARGUMENTS
};

typedef struct {
    const char *text;
    size_t length;
} Key;

#define KEY(text) {text, sizeof(text) - 1}

static const Key KEYS[ARGUMENTS] = {
    KEY("correlation"), KEY("External id"), KEY("external id"), KEY("Ev Idx"), KEY("Sequence number"),
    KEY("Fwd thread id"), KEY("device"), KEY("fromDevice"), KEY("stream"), KEY("bytes"), KEY("In msg nelems"),
    KEY("Out msg nelems"), KEY("Group size"), KEY("Seq"), KEY("Rank"), KEY("Bytes"), KEY("Total Allocated"),
    KEY("Total Reserved"), KEY("Device Type"), KEY("Device Id"), KEY("Addr"), KEY("blocks per SM"),
    KEY("warps per SM"), KEY("est. achieved occupancy %"), KEY("grid"), KEY("block"), KEY("Collective name"),
    KEY("dtype"), KEY("Process Group Name"), KEY("Input Dims"), KEY("Input type"), KEY("finished"),
};

#define LONGEST_KEY 32
#define MOST_BLOCKS (((int64_t)1 << 62) - 1)

/* The arguments whose keys have a given length, by number, each list ended by -1. */
static signed char by_length[LONGEST_KEY][8];

static void event_prepare(void) {
    memset(by_length, -1, sizeof(by_length));
    for (int number = 0; number < ARGUMENTS; number++) {
        signed char *list = by_length[KEYS[number].length];
        while (*list >= 0) {
            list++;
        }
        *list = (signed char)number;
    }
}

typedef struct {
    Span ph, cat, name;
    int64_t pid, tid, id, start, duration;
    bool pid_is_text, tid_is_text, id_is_text, has_start, start_is_plain, duration_is_plain, has_args;
    uint64_t given; /* a bit for each argument that is there and not null */
    int64_t wholes[WHOLES];
    double fractions[3];
    int64_t products[2];
    Span texts[5]; /* from COLLECTIVE on */
    bool is_open;
} Event;

#define HAS(event, argument) ((event)->given >> (argument) & 1)

static inline int64_t whole_of(const Event *event, int argument) {
    return HAS(event, argument) ? event->wholes[argument] : ABSENT;
}

static inline bool span_is(const Span *span, const char *text, size_t length) {
    return span->length == length && memcmp(span->start, text, length) == 0;
}

#define IS(span, text) span_is(&(span), text, sizeof(text) - 1)

/* A whole number that may stand in quotes; false for what Python has to look at. */
static bool take_quotable(Scan *scan, int64_t *value) {
    if (*scan->at != '"') {
        return take_whole(scan, value);
    }
    Span span;
    if (!take_string(scan, &span) || span.length == 0 || span.length > MOST_DIGITS) {
        return false;
    }
    Scan inner = {span.start, span.start + span.length};
    return take_whole(&inner, value) && inner.at == inner.end;
}

/* The product of a list of three whole numbers, as launches have them. */
static bool take_product(Scan *scan, int64_t *product) {
    if (!take(scan, '[')) {
        return false;
    }
    *product = 1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t value;
        skip_space(scan);
        if (!take_whole(scan, &value) || value < 0 || value > INT32_MAX) {
            return false;
        }
        if (*product != ABSENT) {
            *product = value && *product > MOST_BLOCKS / value ? ABSENT : *product * value;
        }
        skip_space(scan);
        if (!take(scan, axis < 2 ? ',' : ']')) {
            return false;
        }
    }
    return true;
}

static bool take_plain_string(Scan *scan, Span *span) {
    return take_string(scan, span) && !span->is_escaped && span->is_ascii;
}

static bool take_finished(Scan *scan, bool *is_open) {
    Span span;
    if (*scan->at == '"') {
        if (!take_plain_string(scan, &span)) {
            return false;
        }
        *is_open = IS(span, "false");
        return true;
    }
    *is_open = *scan->at == 'f';
    return *scan->at != '[' && *scan->at != '{' && skip_value(scan, 0);
}

static bool take_argument(Scan *scan, Event *event, int number) {
    const uint64_t bit = (uint64_t)1 << number;
    if (number == INPUT_DIMS || number == INPUT_TYPES) {
        Span *span = &event->texts[number - COLLECTIVE];
        span->start = scan->at;
        if (!skip_value(scan, 0)) {
            return false;
        }
        span->length = (size_t)(scan->at - span->start);
        span->is_escaped = false;
        event->given |= bit;
        return true;
    }
    if (number == FINISHED) {
        return take_finished(scan, &event->is_open);
    }
    if (*scan->at == 'n') {
        event->given &= ~bit;
        return take_word(scan, "null", 4);
    }
    event->given |= bit;
    if (number == RANK) {
        return take_whole(scan, &event->wholes[number]);
    }
    if (number < WHOLES) {
        return take_quotable(scan, &event->wholes[number]);
    }
    if (number <= OCCUPANCY) {
        return take_double(scan, &event->fractions[number - BLOCKS_PER_SM]);
    }
    if (number <= BLOCK) {
        return take_product(scan, &event->products[number - GRID]);
    }
    return take_plain_string(scan, &event->texts[number - COLLECTIVE]);
}

static inline int argument_of(const Span *key) {
    if (key->length >= LONGEST_KEY) {
        return -1;
    }
    for (const signed char *list = by_length[key->length]; *list >= 0; list++) {
        if (memcmp(KEYS[*list].text, key->start, key->length) == 0) {
            return *list;
        }
    }
    return -1;
}

/* Goes through the keys of an object; `value` is called at each value. */
#define EACH_KEY(scan, key, value)                                                                                     \
    if (!take(scan, '{')) {                                                                                            \
        return false;                                                                                                  \
    }                                                                                                                  \
    skip_space(scan);                                                                                                  \
    if (take(scan, '}')) {                                                                                             \
        return true;                                                                                                   \
    }                                                                                                                  \
    do {                                                                                                               \
        skip_space(scan);                                                                                              \
        if (!take_string(scan, &(key)) || (key).is_escaped) {                                                          \
            return false;                                                                                              \
        }                                                                                                              \
        skip_space(scan);                                                                                              \
        if (!take(scan, ':')) {                                                                                        \
            return false;                                                                                              \
        }                                                                                                              \
        skip_space(scan);                                                                                              \
        if (!(value)) {                                                                                                \
            return false;                                                                                              \
        }                                                                                                              \
        skip_space(scan);                                                                                              \
    } while (take(scan, ','));                                                                                         \
    return take(scan, '}')

static bool take_arguments(Scan *scan, Event *event) {
    Span key;
    int number;
    EACH_KEY(scan, key,
             (number = argument_of(&key)) < 0 ? skip_value(scan, 1) : take_argument(scan, event, number));
}

/* The number in a text such as "25738" or "stream 7"; false for any other. */
static bool number_in(const Span *span, int64_t *value) {
    Scan inner = {span->start, span->start + span->length};
    take_word(&inner, "stream ", 7);
    const bool is_negative = take(&inner, '-');
    const size_t digits = (size_t)(inner.end - inner.at);
    if (digits == 0 || digits > MOST_DIGITS) {
        return false;
    }
    *value = 0;
    for (; inner.at < inner.end; inner.at++) {
        if (!is_digit(*inner.at)) {
            return false;
        }
        *value = *value * 10 + (*inner.at - '0');
    }
    *value = is_negative ? -*value : *value;
    return true;
}

static bool take_id(Scan *scan, int64_t *value, bool *is_text) {
    Span span;
    *is_text = false;
    if (*scan->at == '"') {
        if (!take_plain_string(scan, &span)) {
            return false;
        }
        *is_text = !number_in(&span, value);
        return true;
    }
    if (*scan->at == 'n') {
        *value = ABSENT;
        return take_word(scan, "null", 4);
    }
    return take_whole(scan, value);
}

static bool take_start(Scan *scan, Event *event) {
    event->has_start = *scan->at != 'n';
    return event->has_start ? take_time(scan, &event->start, &event->start_is_plain) : take_word(scan, "null", 4);
}

static bool take_duration(Scan *scan, Event *event) {
    if (*scan->at == 'n') {
        event->duration_is_plain = false;
        return take_word(scan, "null", 4);
    }
    return take_time(scan, &event->duration, &event->duration_is_plain);
}

static bool take_field(Scan *scan, Event *event, const Span *key) {
    if (IS(*key, "ph")) {
        return take_plain_string(scan, &event->ph);
    }
    if (IS(*key, "cat")) {
        return take_plain_string(scan, &event->cat);
    }
    if (IS(*key, "name")) {
        return take_string(scan, &event->name);
    }
    if (IS(*key, "pid")) {
        return take_id(scan, &event->pid, &event->pid_is_text);
    }
    if (IS(*key, "tid")) {
        return take_id(scan, &event->tid, &event->tid_is_text);
    }
    if (IS(*key, "ts")) {
        return take_start(scan, event);
    }
    if (IS(*key, "dur")) {
        return take_duration(scan, event);
    }
    if (IS(*key, "id")) {
        return take_id(scan, &event->id, &event->id_is_text);
    }
    if (IS(*key, "args")) {
        if (event->has_args) {
            return false;
        }
        event->has_args = true;
        return take_arguments(scan, event);
    }
    return skip_value(scan, 0);
}

static const Span NO_SPAN = {(const unsigned char *)"", 0, false, true};

static void event_clear(Event *event) {
    event->ph = event->cat = event->name = NO_SPAN;
    event->pid = event->tid = event->id = ABSENT;
    event->duration = 0;
    event->pid_is_text = event->tid_is_text = event->id_is_text = false;
    event->has_start = event->has_args = event->is_open = false;
    event->start_is_plain = event->duration_is_plain = true;
    event->given = 0;
}

static bool take_event(Scan *scan, Event *event) {
    Span key;
    event_clear(event);
    EACH_KEY(scan, key, take_field(scan, event, &key));
}

#endif
