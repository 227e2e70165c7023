// Opens a store as a user who may not write in its directory, and prints the refusal.
const [, , module, directory] = process.argv;
const { openRocksDb } = await import(module);
const { loadLibrary } = await import(module.replace('open.js', 'binding.js'));
loadLibrary();
if (process.getuid() === 0) {
  process.setgid(65534);
  process.setuid(65534);
}
const message = await openRocksDb({ path: directory, historyMs: 1000 }).then(
  () => 'opened',
  error => error.message,
);
console.log(JSON.stringify({ message }));
