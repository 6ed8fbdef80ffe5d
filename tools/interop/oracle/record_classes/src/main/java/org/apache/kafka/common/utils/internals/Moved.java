// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.kafka.common.utils.internals;

/**
 * Nothing. Releases before 4.3 do not have this package, and an import of all its classes
 * needs one to be there.
 */
final class Moved {
    private Moved() {
    }
}
