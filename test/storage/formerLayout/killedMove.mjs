// Opens a store of the former layout, and kills itself after a number of batches of the conversion.
const [, , modules, path, batches] = process.argv;
const { RocksDbRecords } = await import(`${modules}/records.js`);
const { openRocksDb } = await import(`${modules}/open.js`);
const { batch } = RocksDbRecords.prototype;
let left = Number(batches);
RocksDbRecords.prototype.batch = function () {
  const made = batch.call(this);
  const write = made.write.bind(made);
  made.write = async sync => {
    await write(sync);
    if (left-- === 0) process.kill(process.pid, 'SIGKILL');
  };
  return made;
};
const store = await openRocksDb({ path, historyMs: 3_600_000 });
await store.close();
console.log('opened');
