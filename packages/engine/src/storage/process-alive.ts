/** Whether a process may be there. One of another user is, although it may not be signalled. */
export function mayBeAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
