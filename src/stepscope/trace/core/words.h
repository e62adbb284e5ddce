/* A dictionary of the distinct texts of one piece, numbered in the order in which they come. */

#ifndef STEPSCOPE_WORDS_H
#define STEPSCOPE_WORDS_H

#include <stdlib.h>

#include "scan.h"

typedef struct {
    Span text;
    uint64_t hash;
} Word;

typedef struct {
    Word *words;
    int32_t *slots; /* number of a word plus one, 0 for an empty slot */
    size_t count, room, mask;
} Words;

static bool words_open(Words *self) {
    self->count = 0;
    self->room = 256;
    self->mask = 1023;
    self->words = malloc(self->room * sizeof(Word));
    self->slots = calloc(self->mask + 1, sizeof(int32_t));
    return self->words && self->slots;
}

static void words_close(Words *self) {
    free(self->words);
    free(self->slots);
}

static inline uint64_t hash_of(const unsigned char *text, size_t length) {
    const uint64_t prime = 0x9E3779B97F4A7C15u;
    uint64_t hash = length * prime, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, text, length);
    hash = (hash ^ word) * prime;
    return hash ^ (hash >> 32);
}

static bool words_grow(Words *self) {
    size_t mask = self->mask * 4 + 3;
    int32_t *slots = calloc(mask + 1, sizeof(int32_t));
    Word *words = realloc(self->words, self->room * 4 * sizeof(Word));
    if (words) {
        self->words = words;
    }
    if (!slots || !words) {
        free(slots);
        return false;
    }
    for (size_t number = 0; number < self->count; number++) {
        size_t slot = words[number].hash & mask;
        while (slots[slot]) {
            slot = (slot + 1) & mask;
        }
        slots[slot] = (int32_t)number + 1;
    }
    free(self->slots);
    self->slots = slots;
    self->mask = mask;
    self->room *= 4;
    return true;
}

/* The number of a text; -1 when there is no memory. */
static inline int32_t words_number(Words *self, const Span *text) {
    uint64_t hash = hash_of(text->start, text->length);
    size_t slot = hash & self->mask;
    for (; self->slots[slot]; slot = (slot + 1) & self->mask) {
        const Word *word = &self->words[self->slots[slot] - 1];
        if (word->hash == hash && word->text.length == text->length &&
            memcmp(word->text.start, text->start, text->length) == 0) {
            return self->slots[slot] - 1;
        }
    }
    if (self->count == self->room) {
        return words_grow(self) ? words_number(self, text) : -1;
    }
    self->words[self->count].text = *text;
    self->words[self->count].hash = hash;
    self->slots[slot] = (int32_t)++self->count;
    return (int32_t)self->count - 1;
}

#endif
