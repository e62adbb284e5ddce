/* JSON text, read forwards. Everything here answers false for text that is not strictly JSON, or that is odd in
 * another way: such pieces are read again by the Python that knows what to do. The text ends in a zero byte. */

#ifndef STEPSCOPE_SCAN_H
#define STEPSCOPE_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ABSENT INT64_MIN
#define DEEPEST 32
#define MOST_DIGITS 15
#define FARTHEST_US (((int64_t)1 << 61) / 1000)

typedef struct {
    const unsigned char *at;
    const unsigned char *end;
} Scan;

/* A string of the text, between its quotes. */
typedef struct {
    const unsigned char *start;
    size_t length;
    bool is_escaped;
    bool is_ascii;
} Span;

static inline void skip_space(Scan *scan) {
    while (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t') {
        scan->at++;
    }
}

static inline bool take(Scan *scan, unsigned char wanted) {
    if (*scan->at != wanted) {
        return false;
    }
    scan->at++;
    return true;
}

static inline bool take_word(Scan *scan, const char *word, size_t length) {
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0) {
        return false;
    }
    scan->at += length;
    return true;
}

static inline int hexadecimal(unsigned char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands behind a backslash; halves of surrogate pairs are left to others. */
static bool skip_escape(Scan *scan) {
    unsigned char c = *scan->at++;
    if (c != 'u') {
        return c != 0 && strchr("\"\\/bfnrt", c) != NULL;
    }
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hexadecimal(*scan->at);
        if (digit < 0) {
            return false;
        }
        value = value * 16 + digit;
        scan->at++;
    }
    return value < 0xD800 || value > 0xDFFF;
}

/* Goes on to the next byte of a string that is a quote, a backslash or a control character, eight bytes at a time
 * where the order of bytes in a word is known. */
static inline const unsigned char *plain_end(const unsigned char *at, const unsigned char *end, uint64_t *bits) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');
        uint64_t found = ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((word - ones * 0x20) & ~word);
        found &= highs;
        if (found) {
            int plain = __builtin_ctzll(found) >> 3;
            *bits |= plain ? word << (64 - 8 * plain) : 0;
            return at + plain;
        }
        *bits |= word;
        at += 8;
    }
#endif
    while (*at >= 0x20 && *at != '"' && *at != '\\') {
        *bits |= *at++;
    }
    return at;
}

/* A string, from its opening quote on. */
static inline bool take_string(Scan *scan, Span *span) {
    if (!take(scan, '"')) {
        return false;
    }
    uint64_t bits = 0;
    span->start = scan->at;
    span->is_escaped = false;
    for (;;) {
        scan->at = plain_end(scan->at, scan->end, &bits);
        if (*scan->at == '"') {
            break;
        }
        if (!take(scan, '\\') || !skip_escape(scan)) {
            return false;
        }
        span->is_escaped = true;
    }
    span->length = (size_t)(scan->at - span->start);
    span->is_ascii = (bits & 0x8080808080808080u) == 0;
    scan->at++;
    return true;
}

static inline bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

/* The digits before a point; no number starts with a needless zero. */
static inline bool skip_whole(Scan *scan) {
    take(scan, '-');
    if (take(scan, '0')) {
        return !is_digit(*scan->at);
    }
    if (!is_digit(*scan->at)) {
        return false;
    }
    while (is_digit(*scan->at)) {
        scan->at++;
    }
    return true;
}

static bool skip_number(Scan *scan) {
    if (!skip_whole(scan)) {
        return false;
    }
    if (take(scan, '.')) {
        if (!is_digit(*scan->at)) {
            return false;
        }
        while (is_digit(*scan->at)) {
            scan->at++;
        }
    }
    if ((*scan->at | 0x20) == 'e') {
        scan->at++;
        if (*scan->at == '+' || *scan->at == '-') {
            scan->at++;
        }
        if (!is_digit(*scan->at)) {
            return false;
        }
        while (is_digit(*scan->at)) {
            scan->at++;
        }
    }
    return true;
}

static bool skip_value(Scan *scan, int depth);

static bool skip_list(Scan *scan, int depth) {
    scan->at++;
    skip_space(scan);
    if (take(scan, ']')) {
        return true;
    }
    do {
        skip_space(scan);
        if (!skip_value(scan, depth + 1)) {
            return false;
        }
        skip_space(scan);
    } while (take(scan, ','));
    return take(scan, ']');
}

static bool skip_object(Scan *scan, int depth) {
    Span key;
    scan->at++;
    skip_space(scan);
    if (take(scan, '}')) {
        return true;
    }
    do {
        skip_space(scan);
        if (!take_string(scan, &key)) {
            return false;
        }
        skip_space(scan);
        if (!take(scan, ':')) {
            return false;
        }
        skip_space(scan);
        if (!skip_value(scan, depth + 1)) {
            return false;
        }
        skip_space(scan);
    } while (take(scan, ','));
    return take(scan, '}');
}

static bool skip_value(Scan *scan, int depth) {
    Span span;
    if (depth > DEEPEST) {
        return false;
    }
    switch (*scan->at) {
    case '"':
        return take_string(scan, &span);
    case '{':
        return skip_object(scan, depth);
    case '[':
        return skip_list(scan, depth);
    case 't':
        return take_word(scan, "true", 4);
    case 'f':
        return take_word(scan, "false", 5);
    case 'n':
        return take_word(scan, "null", 4);
    default:
        return skip_number(scan);
    }
}

/* Whether a number goes on behind its whole part. */
static inline bool has_fraction(const Scan *scan) {
    return *scan->at == '.' || (*scan->at | 0x20) == 'e';
}

/* A whole number; ABSENT where 64 bits do not hold it. */
static bool take_whole(Scan *scan, int64_t *value) {
    const unsigned char *start = scan->at;
    if (!skip_whole(scan) || has_fraction(scan)) {
        return false;
    }
    bool is_negative = *start == '-';
    uint64_t sum = 0;
    for (const unsigned char *at = start + is_negative; at < scan->at; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (sum > ((uint64_t)INT64_MAX - digit) / 10) {
            *value = ABSENT;
            return true;
        }
        sum = sum * 10 + digit;
    }
    *value = is_negative ? -(int64_t)sum : (int64_t)sum;
    return true;
}

/* Microseconds with up to 16 digits and three decimals as nanoseconds; is_plain is false for a number that is farther
 * from zero than 64 bits hold with a base added, or written in another way. */
static bool take_time(Scan *scan, int64_t *nanoseconds, bool *is_plain) {
    const bool is_negative = *scan->at == '-';
    const unsigned char *at = scan->at + is_negative;
    int64_t whole = 0, part = 0;
    int digits = 0, decimals = 0;
    for (; is_digit(*at) && digits < 16; digits++) {
        whole = whole * 10 + (*at++ - '0');
    }
    if (*at == '.') {
        at++;
        for (; is_digit(*at) && decimals < 3; decimals++) {
            part = part * 10 + (*at++ - '0');
        }
    }
    for (; decimals < 3; decimals++) {
        part *= 10;
    }
    if (!skip_number(scan)) {
        return false;
    }
    *is_plain = scan->at == at && whole < FARTHEST_US;
    *nanoseconds = *is_plain ? whole * 1000 + part : 0;
    if (is_negative) {
        *nanoseconds = -*nanoseconds;
    }
    return true;
}

/* A number of at most 15 digits and a small exponent, for which one division gives the nearest double. */
static bool take_double(Scan *scan, double *value) {
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const unsigned char *at = scan->at;
    if (!skip_number(scan)) {
        return false;
    }
    bool is_negative = *at == '-';
    at += is_negative;
    int64_t sum = 0;
    int digits = 0, exponent = 0, sign = 1;
    bool is_behind = false;
    for (; at < scan->at && (*at | 0x20) != 'e'; at++) {
        if (*at == '.') {
            is_behind = true;
            continue;
        }
        if (sum || *at != '0') {
            digits++;
        }
        if (digits > MOST_DIGITS) {
            return false;
        }
        sum = sum * 10 + (*at - '0');
        exponent -= is_behind;
    }
    if (at < scan->at) {
        int power = 0;
        at++;
        if (*at == '-' || *at == '+') {
            sign = *at++ == '-' ? -1 : 1;
        }
        for (; at < scan->at; at++) {
            power = power * 10 + (*at - '0');
            if (power > 99) {
                return false;
            }
        }
        exponent += sign * power;
    }
    if (exponent < -22 || exponent > 22) {
        return false;
    }
    double found = exponent < 0 ? (double)sum / powers[-exponent] : (double)sum * powers[exponent];
    *value = is_negative ? -found : found;
    return true;
}

#endif
