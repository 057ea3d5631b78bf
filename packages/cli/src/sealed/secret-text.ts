/** The text to seal, exactly as it is: from a file, standard input or the keyboard. */
import { createReadStream } from 'node:fs'
import { SealedError } from '@strongroom/sealed/crypto/errors'
import { MAX_TEXT_BYTES } from '@strongroom/sealed/crypto/padding'
import { textBytes } from '@strongroom/sealed/crypto/seal'
import { UsageError } from '../command.ts'
import { askHidden, openKeyboard } from './keyboard.ts'
import { readText } from '../read-stream.ts'

/** Throws for a text that cannot be sealed. */
export async function secretText(file: string | undefined): Promise<string> {
  const text = file === undefined ? await fromInput() : await fromFile(file)
  if (text === undefined) throw new SealedError('text_too_long')
  textBytes(text)
  return text
}

async function fromInput(): Promise<string | undefined> {
  const keyboard = process.stdin.isTTY ? openKeyboard() : undefined
  if (!keyboard) {
    return readText(process.stdin, { maxBytes: MAX_TEXT_BYTES, what: 'Standard input' })
  }
  try {
    const question = 'Type or paste the secret (it does not show), then press Ctrl+D: '
    return await askHidden(keyboard, question, { lines: true })
  } finally {
    keyboard.close()
  }
}

async function fromFile(file: string): Promise<string | undefined> {
  try {
    return await readText(createReadStream(file), { maxBytes: MAX_TEXT_BYTES, what: 'The file' })
  } catch (error) {
    if (error instanceof UsageError) throw error
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new UsageError(`Cannot read the file of --file (${reason}): check its path`)
  }
}
