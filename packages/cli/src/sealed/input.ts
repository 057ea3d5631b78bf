/** Reads the link of a command, and the text to seal. */
import { SealedError } from '@strongroom/sealed/crypto/errors'
import {
  type Link,
  parseLink,
  repairEscapedHash,
  trimPastedLink,
} from '@strongroom/sealed/crypto/link'
import { MAX_TEXT_BYTES } from '@strongroom/sealed/crypto/padding'
import { textBytes } from '@strongroom/sealed/crypto/seal'
import { usageError } from '../command.ts'
import { readText, readTextFile } from '../input.ts'
import { askOnTerminal } from '../prompt.ts'

const MAX_BYTES = 4096

/** `-` stands for standard input. */
export async function secretLink(argument: string): Promise<Link & { kind: 'secret' }> {
  const link = parseLink(await linkText(argument, 'Link (it is not shown): '))
  if (link.kind === 'secret') return link
  throw new SealedError(link.kind === 'management' ? 'not_secret_link' : 'link_without_key')
}

export async function managementLink(argument: string): Promise<Link & { kind: 'management' }> {
  const link = parseLink(await linkText(argument, 'Management link (it is not shown): '))
  if (link.kind === 'management') return link
  throw new SealedError('not_management_link')
}

async function linkText(argument: string, question: string): Promise<string> {
  if (argument !== '-') return trimPastedLink(repairEscapedHash(argument))
  const text = process.stdin.isTTY
    ? await askOnTerminal(question)
    : await readText(process.stdin, { maxBytes: MAX_BYTES, what: 'The link' })
  if (text === undefined) throw new SealedError('link_malformed')
  if (text.trim() === '') {
    throw usageError('No link given: pass it as an argument or on standard input')
  }
  return trimPastedLink(repairEscapedHash(text))
}

/** The exact text to seal, from a file, standard input or the terminal. Throws if it cannot be sealed. */
export async function secretText(file: string | undefined): Promise<string> {
  const text =
    file === undefined ? await readInput() : await readTextFile('--file', file, MAX_TEXT_BYTES)
  if (text === undefined) throw new SealedError('text_too_long')
  textBytes(text)
  return text
}

async function readInput(): Promise<string | undefined> {
  if (!process.stdin.isTTY) {
    return readText(process.stdin, { maxBytes: MAX_TEXT_BYTES, what: 'Standard input' })
  }
  const question = 'Type or paste the secret (it is not shown), then press Ctrl+D: '
  return askOnTerminal(question, { lines: true })
}
