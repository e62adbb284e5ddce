/* Which event lies inside which; the words and the edge cases are those of stepscope.trace.nesting. */

#ifndef STEPSCOPE_NEST_H
#define STEPSCOPE_NEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROUNDING_NS 1000

/* Events of several threads, those of each in order of start, the longer first where starts are equal. */
typedef struct {
    const int64_t *thread, *start, *end;
    size_t count;
    int64_t threads;
} Lanes;

/* Whether an open event cannot enclose one that begins and finishes later. */
static inline bool is_over(const Lanes *lanes, int64_t open, size_t row) {
    const int64_t start = lanes->start[open], end = lanes->end[open];
    const int64_t begin = lanes->start[row], finish = lanes->end[row];
    if (end <= begin) {
        return !(start == end && end == begin && begin == finish);
    }
    return end < finish && end - begin <= ROUNDING_NS && start < begin;
}

/* Fills depth, parent and self time; `open` holds the innermost open event of each thread, whose parents are the
 * others that are open. False when a thread's number is out of range. */
static bool nest_all(const Lanes *lanes, int64_t *open, int64_t *depth, int64_t *parent, int64_t *own) {
    for (int64_t thread = 0; thread < lanes->threads; thread++) {
        open[thread] = -1;
    }
    for (size_t row = 0; row < lanes->count; row++) {
        const int64_t thread = lanes->thread[row];
        if (thread < 0 || thread >= lanes->threads) {
            return false;
        }
        int64_t around = open[thread];
        while (around >= 0 && is_over(lanes, around, row)) {
            around = parent[around];
        }
        parent[row] = around;
        depth[row] = around < 0 ? 0 : depth[around] + 1;
        own[row] = lanes->end[row] - lanes->start[row];
        open[thread] = (int64_t)row;
        if (around >= 0) {
            /* The parent begins no later, so that only its end can cut the child. */
            const int64_t until = lanes->end[row] < lanes->end[around] ? lanes->end[row] : lanes->end[around];
            const int64_t covered = until - lanes->start[row];
            own[around] -= covered > 0 ? covered : 0;
        }
    }
    for (size_t row = 0; row < lanes->count; row++) {
        own[row] = own[row] > 0 ? own[row] : 0;
    }
    return true;
}

#endif
