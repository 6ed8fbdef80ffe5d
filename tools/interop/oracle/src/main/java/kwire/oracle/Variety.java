// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

package kwire.oracle;

/** What a random message is made to exercise. */
enum Variety {
    /** Nothing null, no array empty, every tagged field set, integers at their highest. */
    FULL,
    /** All null that may be null, arrays of scalars empty, tagged fields absent or null, integers at their lowest. */
    LEAN,
    /** Any of all that, at random. */
    MIXED,
    /** As full, but with middling values and with unknown tagged fields in every struct. */
    UNKNOWN_TAGS,
}
