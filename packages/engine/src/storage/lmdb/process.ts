/** Blocks the thread: opening is synchronous, even when it has to wait for another process. */
export function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Whether a process may be running. One of another user counts although it cannot be signalled. */
export function mayBeAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
