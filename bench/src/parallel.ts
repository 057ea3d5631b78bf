/** Runs `work` for 0…count-1, that many at a time. */
export async function inParallel(
  count: number,
  concurrency: number,
  work: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- each worker does one thing at a time
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
