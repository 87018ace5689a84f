/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of what descriptors stand for: the path of a file, the other end of a connection. The
 * kernel knows them while the descriptor is in use, which may be closed when user space looks. Each
 * name is made once, and known again by the inode, which takes a look at one word.
 */
#ifndef PROFTRACE_FILE_NAMES_BPF_H
#define PROFTRACE_FILE_NAMES_BPF_H

#include "hash.bpf.h"
#include "tables.bpf.h"

/* By number of a system call: enum wire_call_file. */
const volatile u8 call_files[WIRE_CALLS] = {};

/* By a hash of the inode: the upper 48 bits of it, and the number of its name. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} file_cache SEC(".maps");

struct wire_file_maker file_makers[WIRE_CPUS] WRITTEN __attribute__((aligned(64))) = {};

#ifndef PROFTRACE_BASIC

/* Of include/uapi/linux/stat.h, magic.h, include/linux/socket.h and net/tcp_states.h: */
#define FILE_KIND    0170000
#define IS_SOCKET    0140000
#define IS_FILE	     0100000
#define IS_BLOCK     0060000
#define IS_FOLDER    0040000
#define IS_DEVICE    0020000
#define IS_FIFO	     0010000
#define ANON_MAGIC   0x09041934
#define PIPE_MAGIC   0x50495045
#define FOR_UNIX     1
#define FOR_INET     2
#define FOR_INET6    10
#define IS_LISTENING 10

#define PATH_PARTS  24
#define NUMBER_BITS 0xffffull

/* The ports that a client of TCP has, by the kernel's default, begin there. */
#define CLIENT_PORTS 32768

/* The file that one of a process's descriptors stands for; NULL: none. */
static __always_inline struct file *file_of(const struct task_struct *task, u32 descriptor)
{
	const struct fdtable *table = FAR_FIELD(FAR_FIELD(task, files), fdt);
	struct file **files = FAR_FIELD(table, fd), *file = 0;

	if (descriptor >= FAR_FIELD(table, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), &files[descriptor]))
		return 0;
	return file;
}

/* Likewise, of a task that the verifier knows: three reads are single instructions. */
static __always_inline struct file *file_of_task(const struct task_struct *task, u32 descriptor)
{
	const struct fdtable *table = FIELD(FIELD(task, files), fdt);
	struct file **files = FIELD(table, fd), *file = 0;

	if (descriptor >= FIELD(table, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), &files[descriptor]))
		return 0;
	return file;
}

static __always_inline u32 kind_of_file(const struct file *file)
{
	return FAR_FIELD(FAR_FIELD(file, f_inode), i_mode) & FILE_KIND;
}

/* Whether it is a pipe that is in no folder. */
static __always_inline bool is_pipe(const struct file *file)
{
	return FAR_FIELD(FAR_FIELD(FAR_FIELD(file, f_inode), i_sb), s_magic) == PIPE_MAGIC;
}

/* The socket of a file that is one. */
static __always_inline const struct sock *sock_of(const struct file *file)
{
	const struct socket *socket = FAR_FIELD(file, private_data);

	return FAR_FIELD(socket, sk);
}

/* A walk from a file up to the root of all that is mounted. */
struct path_walk {
	struct wire_file *name;
	const struct dentry *entry;
	const struct vfsmount *mounted;
};

static long name_step_up(u32 round, struct path_walk *w)
{
	const struct dentry *above = FAR_FIELD(w->entry, d_parent);
	struct wire_file *name = w->name;
	const struct mount *mount;
	long len;
	u32 at;

	LOOK_AT(round);
	if (!name)
		return 1;
	if (w->entry == FAR_FIELD(w->mounted, mnt_root) || w->entry == above) {
		mount = (void *)w->mounted - bpf_core_field_offset(struct mount, mnt);
		above = FAR_FIELD(mount, mnt_mountpoint);
		if (FAR_FIELD(mount, mnt_parent) == mount)
			return 1;
		w->entry = above;
		w->mounted = (void *)FAR_FIELD(mount, mnt_parent) +
			     bpf_core_field_offset(struct mount, mnt);
		return 0;
	}
	at = name->len;
	if (at >= WIRE_FILE_TEXT)
		return 1;
	len = bpf_probe_read_kernel_str(name->text + at, WIRE_FILE_PART,
					FAR_FIELD(w->entry, d_name.name));
	if (len <= 0)
		return 1;
	name->len = at + len;
	w->entry = above;
	return 0;
}

static __always_inline void name_path(struct wire_file *name, const struct file *file)
{
	struct path_walk w = {name, FAR_FIELD(file, f_path.dentry), FAR_FIELD(file, f_path.mnt)};

	name->kind = WIRE_FILE_PATH;
	if (bpf_core_field_exists(struct mount, mnt))
		bpf_loop(PATH_PARTS, name_step_up, &w, 0);
}

/* A socket that has an address itself, as a server's, or whose other end has. */
static __always_inline void name_unix(struct wire_file *name, const struct sock *sk)
{
	const struct unix_sock *one = (void *)sk;
	const struct unix_address *address;
	u32 len;

	if (!bpf_core_field_exists(one->peer))
		return;
	address = FAR_FIELD(one, addr);
	if (!address) {
		one = (void *)FAR_FIELD(one, peer);
		address = one ? FAR_FIELD(one, addr) : 0;
	}
	if (!address)
		return;
	len = FAR_FIELD(address, len) - 2;
	if (len > sizeof(address->name[0].sun_path))
		return;
	name->kind = WIRE_FILE_UNIX;
	name->len = len;
	bpf_probe_read_kernel(name->text, len, address->name[0].sun_path);
}

static __always_inline void name_inet(struct wire_file *name, const struct sock *sk, u32 family)
{
	u16 port = FAR_FIELD(sk, __sk_common.skc_dport), own = FAR_FIELD(sk, __sk_common.skc_num);

	name->family = family;
	if (FAR_FIELD(sk, __sk_common.skc_state) == IS_LISTENING) {
		name->kind = WIRE_FILE_LISTENING;
		name->port = __builtin_bswap16(own);
	} else if (__builtin_bswap16(port) >= CLIENT_PORTS && own < CLIENT_PORTS) {
		/* Clients are many, each at a port of its own. */
		name->kind = WIRE_FILE_CLIENTS;
		name->port = __builtin_bswap16(own);
	} else if (port) {
		name->kind = WIRE_FILE_PEER;
		name->port = port;
		if (family == FOR_INET)
			name->address[0] = FAR_FIELD(sk, __sk_common.skc_daddr);
		else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
			bpf_core_read(name->address, sizeof(name->address),
				      &sk->__sk_common.skc_v6_daddr);
	}
}

static __always_inline void name_socket(struct wire_file *name, const struct file *file)
{
	const struct socket *socket = FAR_FIELD(file, private_data);
	const struct sock *sk = FAR_FIELD(socket, sk);
	u32 family = FAR_FIELD(sk, __sk_common.skc_family);

	name->type = FAR_FIELD(socket, type);
	if (family == FOR_UNIX)
		name_unix(name, sk);
	else if (family == FOR_INET || family == FOR_INET6)
		name_inet(name, sk, family);
}

static __always_inline void name_kernels(struct wire_file *name, const struct file *file)
{
	const struct dentry *entry = FAR_FIELD(file, f_path.dentry);
	long len = bpf_probe_read_kernel_str(name->text, WIRE_FILE_PART,
					     FAR_FIELD(entry, d_name.name));

	name->kind = WIRE_FILE_NAME;
	name->len = len > 0 ? len - 1 : 0;
}

static __always_inline void name_file(struct wire_file *name, const struct file *file)
{
	const struct inode *inode = FAR_FIELD(file, f_inode);
	unsigned long magic = FAR_FIELD(FAR_FIELD(inode, i_sb), s_magic);
	u32 kind = FAR_FIELD(inode, i_mode) & FILE_KIND;

	if (kind == IS_SOCKET)
		name_socket(name, file);
	else if (magic == PIPE_MAGIC)
		name->kind = WIRE_FILE_PIPE;
	else if (magic == ANON_MAGIC)
		name_kernels(name, file);
	else
		name_path(name, file);
}

#define FILE_KEY 2 /* words before what tells a name from others */

/* A search for a name in the table. */
struct name_search {
	struct wire_file *name;
	u64 hash;
	u32 found; /* its place in the table, plus 1; 0: it is not there */
};

static long name_mix(u32 i, struct name_search *q)
{
	const u64 *words = (const u64 *)q->name;

	if (!words || i >= sizeof(*q->name) / sizeof(u64) - FILE_KEY)
		return 1;
	MIX(q->hash, words[i + FILE_KEY]);
	return 0;
}

static long name_seek(u32 i, struct name_search *q)
{
	u32 at = (q->hash + i) % WIRE_FILES;
	struct wire_file *there = bpf_map_lookup_elem(&files, &at);

	if (!there || !q->name)
		return 1;
	if (there->hash != q->hash && (there->hash || !SWAP_IF(&there->hash, 0, q->hash)))
		return 0;
	q->found = at + 1;
	if (there->ready)
		return 1;
	/* Another CPU may be about to write the same. */
	bpf_probe_read_kernel((u64 *)there + FILE_KEY, sizeof(*there) - FILE_KEY * sizeof(u64),
			      (u64 *)q->name + FILE_KEY);
	asm volatile("" : : : "memory");
	*(volatile u64 *)&there->ready = 1;
	return 1;
}

/* Its number in the table, plus 1, where it is put if it is new; 0: there is no room. */
static __always_inline u32 name_keep(struct wire_file_maker *maker)
{
	struct name_search q = {.name = &maker->name};

	bpf_loop(sizeof(maker->name) / sizeof(u64) - FILE_KEY, name_mix, &q, 0);
	q.hash |= 1;
	bpf_loop(WIRE_FILE_PLACES, name_seek, &q, 0);
	if (!q.found)
		maker->unnamed++;
	return q.found;
}

/* Makes the name of a file. Returns its number, plus 1; 0: it has none. */
static __always_inline u32 name_make(const struct file *file)
{
	u32 cpu = bpf_get_smp_processor_id() % WIRE_CPUS, number = 0;
	struct wire_file_maker *maker = &file_makers[cpu];

	/* Interrupted: the next look will do. */
	if (!SWAP_IF(&maker->busy, 0, 1))
		return 0;
	__builtin_memset(&maker->name, 0, sizeof(maker->name));
	name_file(&maker->name, file);
	if (maker->name.kind)
		number = name_keep(maker);
	*(volatile u64 *)&maker->busy = 0;
	return number;
}

/* The number of the name of a file, by its address in the kernel, plus 1; 0: it has none. Global:
 * the verifier looks at it once. */
__noinline u32 file_name(u64 address)
{
	const struct file *file = (void *)address;
	const struct inode *inode;
	u64 hash, *known;
	u32 at, number;

	if (!file)
		return 0;
	inode = FAR_FIELD(file, f_inode);
	/* All eventfds and their like have one inode, but each kind has operations of its own. */
	hash = FAR_FIELD(inode, i_ino);
	MIX(hash, (u64)inode);
	MIX(hash, (u64)FAR_FIELD(file, f_op) ^ FAR_FIELD(inode, i_generation));
	at = hash >> 24 & (WIRE_FILE_CACHE - 1);
	known = bpf_map_lookup_elem(&file_cache, &at);
	if (!known)
		return 0;
	if (*known & NUMBER_BITS && !((*known ^ hash) & ~NUMBER_BITS))
		return *known & NUMBER_BITS;
	number = name_make(file);
	if (number)
		*known = (hash & ~NUMBER_BITS) | number;
	return number;
}

/* The number of the name of what a system call is about, plus 1; 0: it has none. */
static __always_inline u32 call_file_name(const struct task_struct *task, u32 call,
					  const struct pt_regs *regs, s64 result)
{
	u32 about = call < WIRE_CALLS ? call_files[call] : WIRE_CALL_NO_FILE;

	if (about == WIRE_CALL_OF_FILE)
		return file_name((u64)file_of_task(task, first_argument(regs)));
	if (about != WIRE_CALL_MAKES_FILE || result < 0)
		return 0;
	return file_name((u64)file_of_task(task, result));
}

#else

#define call_file_name(...) 0

#endif
#endif
