/** Reads the link of a command, and what to seal. */
import { basename } from 'node:path'
import { type Content, contentBytes } from '@strongroom/sealed/crypto/content'
import { SealedError } from '@strongroom/sealed/crypto/errors'
import { type Link, parseLink, trimPastedLink } from '@strongroom/sealed/crypto/link'
import { MAX_CONTENT_BYTES } from '@strongroom/sealed/crypto/padding'
import { usageError } from '../command.ts'
import { readBinaryFile, readText } from '../input.ts'
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
  if (argument !== '-') return trimPastedLink(argument)
  const text = process.stdin.isTTY
    ? await askOnTerminal(question)
    : await readText(process.stdin, { maxBytes: MAX_BYTES, what: 'The link' })
  if (text === undefined) throw new SealedError('link_malformed')
  if (text.trim() === '') {
    throw usageError('No link given: pass it as an argument or on standard input')
  }
  return trimPastedLink(text)
}

/** A file, or the exact text on standard input or the terminal. Throws if it cannot be sealed. */
export async function secretContent(path: string | undefined): Promise<Content> {
  const content = path === undefined ? await readInput() : await readFile(path)
  contentBytes(content)
  return content
}

async function readFile(path: string): Promise<Content> {
  const bytes = await readBinaryFile('--file', path, MAX_CONTENT_BYTES)
  if (bytes === undefined) throw new SealedError('file_too_large')
  return { name: basename(path), mediaType: '', bytes }
}

async function readInput(): Promise<string> {
  const question = 'Type or paste the secret (it is not shown), then press Ctrl+D: '
  const text = process.stdin.isTTY
    ? await askOnTerminal(question, { lines: true })
    : await readText(process.stdin, { maxBytes: MAX_CONTENT_BYTES, what: 'Standard input' })
  if (text === undefined) throw new SealedError('text_too_long')
  return text
}
