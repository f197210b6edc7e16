// The child process that BECOMES ClickHouse: `node clickhouse-child.js PARENT_PID LIBRARY ARGUMENT…`.
//
// koffi's own calls run on a switched stack, which ClickHouse's stack check rejects. So koffi only registers
// on_exit(chdb_query_cmdline, argv), and exit(argc) then makes glibc call chdb_query_cmdline(argc, argv) on the real
// main stack. Nothing of Node runs after that; the exit code of a clean end is argc.
import koffi from 'koffi';

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;
const RTLD_NOW_GLOBAL = 2 | 0x100;

const [parent = '', library = '', ...options] = process.argv.slice(2);
const argv = ['clickhouse', ...options];
const libc = koffi.load('libc.so.6');
const prctl = libc.func('int prctl(int option, unsigned long value)');
const strdup = libc.func('void *strdup(const char *text)');
const calloc = libc.func('void *calloc(size_t count, size_t size)');
const dlopen = libc.func('void *dlopen(const char *file, int flags)');
const dlsym = libc.func('void *dlsym(void *handle, const char *name)');
const onExit = libc.func('int on_exit(void *callback, void *argument)');

// The engine must not outlive its parent, however that ends.
prctl(PR_SET_PDEATHSIG, SIGKILL);
if (String(process.ppid) !== parent) process.exit(1);

koffi.load(library, { lazy: true, global: true });
const main: unknown = dlsym(dlopen(library, RTLD_NOW_GLOBAL), 'chdb_query_cmdline');
const block: unknown = calloc(argv.length + 1, 8); // the zero behind the last pointer ends the list
const pointers = argv.map((argument): unknown => strdup(argument));
koffi.encode(block, koffi.array('void *', argv.length), pointers);
onExit(main, block);
(process as unknown as { reallyExit(code: number): never }).reallyExit(argv.length);
