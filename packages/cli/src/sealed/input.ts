/** The link that a command is about: its argument, standard input, or what is typed at the prompt. */
import { SealedError } from '@strongroom/sealed/crypto/errors'
import { type Link, parseLink, trimPastedLink } from '@strongroom/sealed/crypto/link'
import { MAX_TEXT_BYTES } from '@strongroom/sealed/crypto/padding'
import { textBytes } from '@strongroom/sealed/crypto/seal'
import { UsageError } from '../command.ts'
import { readText, readTextFile } from '../input.ts'
import { askHidden, openKeyboard } from './keyboard.ts'

const MAX_BYTES = 4096

/** `-` stands for standard input. */
export async function secretLink(argument: string): Promise<Link & { kind: 'secret' }> {
  const link = parseLink(await linkText(argument, 'Link (it does not show): '))
  if (link.kind === 'secret') return link
  throw new SealedError(link.kind === 'management' ? 'not_secret_link' : 'link_without_key')
}

export async function managementLink(argument: string): Promise<Link & { kind: 'management' }> {
  const link = parseLink(await linkText(argument, 'Management link (it does not show): '))
  if (link.kind === 'management') return link
  throw new SealedError('not_management_link')
}

async function linkText(argument: string, question: string): Promise<string> {
  if (argument !== '-') return trimPastedLink(argument)
  const text = process.stdin.isTTY
    ? await ask(question)
    : await readText(process.stdin, { maxBytes: MAX_BYTES, what: 'The link' })
  if (text === undefined) throw new SealedError('link_malformed')
  if (text.trim() === '') {
    throw new UsageError('There is no link: give it as an argument or to standard input')
  }
  return trimPastedLink(text)
}

async function ask(question: string): Promise<string | undefined> {
  const keyboard = openKeyboard()
  if (!keyboard) return undefined
  try {
    return await askHidden(keyboard, question)
  } finally {
    keyboard.close()
  }
}

// The text to seal, exactly as it is: from a file, standard input or the keyboard.

/** Throws for a text that cannot be sealed. */
export async function secretText(file: string | undefined): Promise<string> {
  const text =
    file === undefined ? await fromInput() : await readTextFile('--file', file, MAX_TEXT_BYTES)
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
