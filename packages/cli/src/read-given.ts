/** The text of what an option or a setting names; undefined if it has more bytes than that. */
import { createReadStream } from 'node:fs'
import { UsageError } from './command.ts'
import { readText } from './read-stream.ts'

export async function readDescriptor(
  option: string,
  given: string,
  maxBytes: number,
): Promise<string | undefined> {
  if (!/^\d{1,4}$/.test(given)) {
    throw new UsageError(`--${option} must be the number of an open file descriptor, such as 3`)
  }
  const stream = createReadStream('', { fd: Number(given), autoClose: false })
  return readText(stream, { maxBytes, what: `What is on the descriptor of --${option}` }).catch(
    unreadable(`descriptor of --${option}`, `open it, as with ${given}<file`),
  )
}

export async function readGivenFile(
  name: string,
  path: string,
  maxBytes: number,
): Promise<string | undefined> {
  const what = `What is in the file of ${name}`
  return readText(createReadStream(path), { maxBytes, what }).catch(
    unreadable(`file of ${name}`, 'check its path'),
  )
}

function unreadable(what: string, hint: string) {
  return (error: unknown): never => {
    if (error instanceof UsageError) throw error
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new UsageError(`Cannot read the ${what} (${reason}): ${hint}`)
  }
}
