# Alphabets: of which characters each token is made.
#
# The idea. A token of which all characters lead from a lexeme state back to it stays inside the lexeme, whatever their
# number and order. So tokens are sorted once by the set of characters that they are made of, coarsely: the letters of
# either case, the digits, each punctuation mark, eight groups of longer characters. 128,000 tokens have some 3,000 such
# alphabets, and two dozen of these have most of the tokens. "All tokens of letters, digits, full stops and dashes" is
# then the union of a few ready bitmasks and a short list, where the trie would be walked for it through tens of
# thousands of nodes.
#
# Coarser than the groups of the trie on purpose: with seven groups of small letters there would be a hundred times as
# many alphabets of words. Of a class that lacks few letters of a case ("any text without an x") the tokens that have one
# of those are taken away, if no token can get past them; one that lacks many takes tokens with the others by walking.
#
# Locking. Everything but the constructor expects the table's lock.

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .trie cimport MW_POPCOUNT, NO_GROUP, group_of

# Alphabets of so many tokens have a bitmask: to OR one in costs as much as setting some hundred bits.
cdef int32_t BITS_FROM = 700
# Letters of a case that tokens may be barred for. A class that lacks more has few tokens, and walking is quick.
cdef int MOST_BARRED = 6


cdef uint64_t[256] coarse_of        # byte -> the groups that its alphabets have
cdef uint64_t[3] ranges             # groups of the digits, the capital and the small letters


cdef void _fill_coarse():
    cdef int i, byte, n_letters = 0
    for i, (first, last) in enumerate([(ord("0"), ord("9")), (ord("A"), ord("Z")), (ord("a"), ord("z"))]):
        ranges[i] = 0
        for byte in range(first, last + 1):
            ranges[i] |= <uint64_t>1 << group_of[byte]
    for byte in range(256):
        letter_bit[byte] = 0
        if ord("0") <= byte <= ord("9") or ord("A") <= byte <= ord("Z") or ord("a") <= byte <= ord("z"):
            letter_bit[byte] = <uint64_t>1 << n_letters
            n_letters += 1
        coarse_of[byte] = 0
        if group_of[byte] != NO_GROUP:
            coarse_of[byte] = <uint64_t>1 << group_of[byte]
            for i in range(3):
                if ranges[i] & coarse_of[byte]:
                    coarse_of[byte] = ranges[i]


_fill_coarse()


cdef uint64_t unmixed(uint64_t groups) noexcept nogil:
    """Groups without those of the letters of a case, and of the digits, that are there in part."""
    cdef int i
    for i in range(3):
        if groups & ranges[i] != ranges[i]:
            groups &= ~ranges[i]
    return groups


cdef uint64_t completed(uint64_t groups, uint64_t* living, uint64_t* dead, uint64_t* barred) noexcept nogil:
    """Groups with the letters of a case, or the digits, of which some are there and only few bytes are missing.

    Args:
        living: Single bytes of which the groups are made, and that are there where a group is not.
        dead: Single bytes that may be missing.
        barred: Set to the letters and digits that are.
    """
    cdef int i, byte, n_missing
    cdef uint64_t missing
    cdef bint good
    barred[0] = 0
    for i in range(3):
        if not groups & ranges[i] or groups & ranges[i] == ranges[i]:
            continue
        missing = n_missing = 0
        good = True
        for byte in range(128):
            if ranges[i] & coarse_of[byte] and not (living[byte >> 6] >> (byte & 63)) & 1:
                missing |= letter_bit[byte]
                n_missing += 1
                good = good and (dead[byte >> 6] >> (byte & 63)) & 1
        if good and n_missing <= MOST_BARRED:
            groups |= ranges[i]
            barred[0] |= missing
    return groups


cdef class Alphabets:
    """The tokens of one vocabulary by alphabet."""

    def __cinit__(self, TokenTrie vocabulary):
        self.vocabulary = vocabulary
        self.trie = &vocabulary.trie
        self.n_words = (vocabulary.vocab_size + 31) // 32
        cdef unordered_map[uint64_t, int32_t] numbers
        cdef vector[int32_t] place
        cdef Alphabet fresh
        cdef Alphabet* alphabet
        cdef TokenAlphabet unknown
        cdef uint64_t groups
        cdef int32_t j, i, n_entries = <int32_t>self.trie.ids.size()
        self.letters.assign(vocabulary.vocab_size, 0)
        self.alphabet_of.resize(n_entries)
        for j in range(n_entries):
            self.alphabet_of[j] = -1
            if not self.trie.is_whole[j] or self.trie.lengths[j] == 0:
                continue
            groups = self.groups_of(self.trie.ids[j])
            self.letters[self.trie.ids[j]] = self.letters_of(self.trie.ids[j])
            if numbers.find(groups) == numbers.end():
                numbers[groups] = <int32_t>self.alphabets.size()
                fresh.groups = groups
                fresh.first = fresh.last = 0
                fresh.longest = fresh.most_leads = 0
                fresh.bits = NULL
                self.alphabets.push_back(fresh)
            self.alphabet_of[j] = numbers[groups]
            alphabet = &self.alphabets[numbers[groups]]
            alphabet.last += 1
            alphabet.longest = max(alphabet.longest, self.trie.lengths[j])
            alphabet.most_leads = max(alphabet.most_leads, self.trie.leads[j])
        # From counts to runs of `entries`.
        for i in range(1, <int32_t>self.alphabets.size()):
            self.alphabets[i].first = self.alphabets[i - 1].last
            self.alphabets[i].last += self.alphabets[i].first
        for i in range(<int32_t>self.alphabets.size()):
            place.push_back(self.alphabets[i].first)
        self.entries.resize(0 if place.empty() else self.alphabets.back().last)
        for j in range(n_entries):
            if self.alphabet_of[j] >= 0:
                self.entries[place[self.alphabet_of[j]]] = j
                place[self.alphabet_of[j]] += 1
        for i in range(<int32_t>self.alphabets.size()):
            if self.alphabets[i].last - self.alphabets[i].first >= BITS_FROM:
                self.alphabets[i].bits = self.new_bits()
                self.set_bits(self.alphabets[i].bits, &self.alphabets[i])
        self.memory_size_bytes += (self.entries.size() + self.alphabet_of.size()) * sizeof(int32_t)
        unknown.alphabet = -1
        unknown.leads = 0
        self.by_token.assign(vocabulary.vocab_size, unknown)
        for j in range(n_entries):
            self.by_token[self.trie.ids[j]].alphabet = self.alphabet_of[j]
            self.by_token[self.trie.ids[j]].leads = self.trie.leads[j]
        self.memory_size_bytes += self.by_token.size() * sizeof(TokenAlphabet)
        self.memory_size_bytes += self.alphabets.size() * sizeof(Alphabet) + self.letters.size() * sizeof(uint64_t)

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.alphabets.size()):
            free(self.alphabets[i].bits)
        for i in range(self.selections.size()):
            free(self.selections[i].bits)

    cdef uint64_t groups_of(self, int32_t token) noexcept nogil:
        cdef const uint8_t* text = &self.vocabulary.flat[self.vocabulary.offsets[2 * token]]
        cdef uint64_t groups = 0
        cdef int64_t i
        for i in range(self.vocabulary.offsets[2 * token + 1]):
            groups |= coarse_of[text[i]]
        return groups

    cdef uint64_t letters_of(self, int32_t token) noexcept nogil:
        cdef const uint8_t* text = &self.vocabulary.flat[self.vocabulary.offsets[2 * token]]
        cdef uint64_t letters = 0
        cdef int64_t i
        for i in range(self.vocabulary.offsets[2 * token + 1]):
            letters |= letter_bit[text[i]]
        return letters

    cdef uint32_t* new_bits(self) noexcept nogil:
        cdef uint32_t* bits = <uint32_t*>malloc(self.n_words * sizeof(uint32_t))
        memset(bits, 0, self.n_words * sizeof(uint32_t))
        self.memory_size_bytes += self.n_words * sizeof(uint32_t)
        return bits

    cdef void set_bits(self, uint32_t* bits, Alphabet* alphabet) noexcept nogil:
        cdef int32_t i, token
        for i in range(alphabet.first, alphabet.last):
            token = self.trie.ids[self.entries[i]]
            bits[token >> 5] |= <uint32_t>1 << (token & 31)

    cdef Selected* within(self, uint64_t groups) noexcept nogil:
        """The alphabets of which all groups are among `groups`."""
        return self.without(groups, 0)

    cdef Selected* without(self, uint64_t groups, uint64_t barred) noexcept nogil:
        """The same but for the tokens that have one of the barred letters and digits."""
        cdef pair[uint64_t, uint64_t] key
        cdef Selected* selected
        cdef Alphabet* alphabet
        cdef size_t i
        key.first = groups
        key.second = barred
        if self.known.find(key) != self.known.end():
            return self.known[key]
        self.selections.resize(self.selections.size() + 1)
        selected = &self.selections.back()
        selected.holds.assign(self.alphabets.size(), 0)
        selected.n_tokens = 0
        selected.longest = selected.most_leads = 0
        selected.bits = NULL
        selected.barred = barred
        for i in range(self.alphabets.size()):
            alphabet = &self.alphabets[i]
            if alphabet.groups & ~groups == 0:
                selected.holds[i] = 1
                selected.alphabets.push_back(<int32_t>i)
                selected.n_tokens += alphabet.last - alphabet.first
                selected.longest = max(selected.longest, alphabet.longest)
                selected.most_leads = max(selected.most_leads, alphabet.most_leads)
        self.memory_size_bytes += sizeof(Selected) + selected.holds.size() + selected.alphabets.size() * sizeof(int32_t)
        self.known[key] = selected
        if barred:
            self.bar(selected, self.bits_of(self.within(groups)))
        return selected

    cdef void bar(self, Selected* selected, const uint32_t* bits) noexcept nogil:
        """Set the bitmask and the number of tokens of a selection: `bits` without those that have a barred letter."""
        cdef int32_t word, token
        selected.bits = self.new_bits()
        memcpy(selected.bits, bits, self.n_words * sizeof(uint32_t))
        for token in range(self.vocabulary.vocab_size):
            # Half of them may have the letter: no jumps.
            selected.bits[token >> 5] &= ~(<uint32_t>((self.letters[token] & selected.barred) != 0) << (token & 31))
        selected.n_tokens = 0
        for word in range(self.n_words):
            selected.n_tokens += MW_POPCOUNT(selected.bits[word])

    cdef uint32_t* bits_of(self, Selected* selected) noexcept nogil:
        """Bitmask of the tokens of these alphabets, made at the first call and kept."""
        cdef Alphabet* alphabet
        cdef size_t i
        cdef int32_t word
        if selected.bits == NULL:
            selected.bits = self.new_bits()
            for i in range(selected.alphabets.size()):
                alphabet = &self.alphabets[selected.alphabets[i]]
                if alphabet.bits == NULL:
                    self.set_bits(selected.bits, alphabet)
                    continue
                for word in range(self.n_words):
                    selected.bits[word] |= alphabet.bits[word]
        return selected.bits

    cdef void add_bits(self, Selected* selected, uint32_t* bits) noexcept nogil:
        """OR the tokens of these alphabets into a bitmask."""
        cdef uint32_t* more = self.bits_of(selected)
        cdef int32_t word
        for word in range(self.n_words):
            bits[word] |= more[word]

    cdef void list(self, Selected* selected, vector[int32_t]& tokens) noexcept nogil:
        """Append the tokens of these alphabets."""
        cdef Alphabet* alphabet
        cdef size_t i
        cdef int32_t j, token
        for i in range(selected.alphabets.size()):
            alphabet = &self.alphabets[selected.alphabets[i]]
            for j in range(alphabet.first, alphabet.last):
                token = self.trie.ids[self.entries[j]]
                if not self.letters[token] & selected.barred:
                    tokens.push_back(token)
