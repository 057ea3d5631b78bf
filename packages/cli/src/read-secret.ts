/** A signing secret or token: typed without showing it, or from standard input; never an argument. */
import { UsageError } from './command.ts'
import { askHidden } from './passphrase.ts'
import { readText } from './read-stream.ts'

const MAX_BYTES = 1_024

export async function readSecret(question: string): Promise<string> {
  const text = process.stdin.isTTY
    ? await askHidden(question)
    : await readText(process.stdin, { maxBytes: MAX_BYTES, what: 'Standard input' })
  if (text === undefined) throw new UsageError(`A secret has at most ${MAX_BYTES} bytes`)
  const secret = text.trim()
  if (secret === '') {
    throw new UsageError('No secret was given: type it, or hand it over on standard input')
  }
  return secret
}
