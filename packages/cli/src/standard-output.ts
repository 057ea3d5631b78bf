/** Standard output, for results: who reads it may have gone, and what it leads to may be full. */

// What could not be written is told by whoever wrote it; an error without a listener is a crash.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

let isLost = false

export function writeResult(text: string): void {
  process.stdout.write(text, (error) => {
    if (!error || isLost) return
    isLost = true
    const code = 'code' in error ? String(error.code) : error.name
    // As `head` does when it has seen enough: what would go on for ever ends in good order.
    if (code === 'EPIPE') return void process.emit('SIGTERM', 'SIGTERM')
    process.stderr.write(
      `Cannot write to standard output (${code}): free some space, or let it go somewhere else\n`,
    )
    // Whatever the command says of itself: its result was not seen.
    process.once('exit', () => (process.exitCode ||= 1))
  })
}
