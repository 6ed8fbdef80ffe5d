// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

import java.util.Base64;
import java.util.Scanner;
import org.apache.kafka.common.utils.Utils;

/** Reads keys in base64, one a line, and prints Kafka's hash of each, and its positive form. */
public final class PartitionHashes {
    public static void main(String[] arguments) {
        StringBuilder out = new StringBuilder();
        try (Scanner lines = new Scanner(System.in)) {
            while (lines.hasNextLine()) {
                byte[] key = Base64.getDecoder().decode(lines.nextLine());
                int hash = Utils.murmur2(key);
                out.append(hash).append(' ').append(Utils.toPositive(hash)).append('\n');
            }
        }
        System.out.print(out);
    }
}
