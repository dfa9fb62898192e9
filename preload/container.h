/* SPDX-License-Identifier: Apache-2.0
 *
 * container.h: files that are read here and there, not from end to end.
 * Runs in the preload object.
 *
 * A copy of such a file would cost the whole of it to serve a part, so it is
 * left to the kernel, which keeps the pages that are read.  They are known by
 * their content, not by their names:
 *
 *   HDF5     also NetCDF-4, Keras weights, MATLAB 7.3.  The format allows a
 *            signature at 512 and further on, behind a block of the user's:
 *            that is past what we look at, but for MATLAB's, which says it in
 *            its first line.
 *   NetCDF   classic: slices of arrays are read from it.
 *   LMDB     mapped and walked as a tree.  Where builds of 64 bits put it, in
 *            either byte order; these cannot read files of 32 bits anyway.
 *   SQLite   the same, by page.
 *   Parquet  the footer, then some columns of some row groups.
 *   Arrow    IPC files, and streams (what Hugging Face's data sets are cached
 *            as): mapped, rows taken at random.
 *   tar      shards of samples, which a data set of its own (tar:) can cache
 *            sample by sample.
 *
 * Not containers in this sense, and cached like any other file:
 *
 *   zip      .npz, torch's .pt and the like: as data they are one sample each,
 *            small and read whole.  One that is a whole data set is larger than
 *            what is cached of one file.
 *   .npy     the same.
 *   TFRecord, gzip, zstd and the rest of streams: read from end to end.
 *   LevelDB, RocksDB, FFCV, MDS: read at random, but nothing at their beginning
 *            tells them from other bytes.
 */

#ifndef PRELOAD_CONTAINER_H
#define PRELOAD_CONTAINER_H

#include <stddef.h>

#define CONTAINER_HEAD	512u

const char *container_kind(const unsigned char *head, size_t len);
	/* From the first bytes of a file, CONTAINER_HEAD of them or all that
	 * there are (more are not looked at): its name as above, static; or
	 * NULL for any other. */

#endif
