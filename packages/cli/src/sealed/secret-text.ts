/** The text to seal, exactly as it is: from a file, standard input or the keyboard. */
import { SealedError } from '@strongroom/sealed/crypto/errors'
import { MAX_TEXT_BYTES } from '@strongroom/sealed/crypto/padding'
import { textBytes } from '@strongroom/sealed/crypto/seal'
import { readGivenFile } from '../read-given.ts'
import { askHidden, openKeyboard } from './keyboard.ts'
import { readText } from '../read-stream.ts'

/** Throws for a text that cannot be sealed. */
export async function secretText(file: string | undefined): Promise<string> {
  const text =
    file === undefined ? await fromInput() : await readGivenFile('--file', file, MAX_TEXT_BYTES)
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
