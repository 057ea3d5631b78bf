/** Reads the link of a command, and what to seal. */
import { basename } from 'node:path'
import { type Content, contentBytes } from '@strongroom/sealed/crypto/content'
import { SealedError } from '@strongroom/sealed/crypto/errors'
import {
  type Link,
  parseLink,
  repairEscapedHash,
  trimPastedLink,
} from '@strongroom/sealed/crypto/link'
import { MAX_CONTENT_BYTES } from '@strongroom/sealed/crypto/padding'
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from '@strongroom/sealed/limits'
import { usageError } from '../command.ts'
import { readBinaryFile, readText } from '../input.ts'
import { parseDuration } from '../output.ts'
import { askOnTerminal } from '../prompt.ts'

const MAX_BYTES = 4096

/** Why a link opens nothing. */
const NOT_FOR_READING = {
  management: 'not_secret_link',
  'secret-without-key': 'link_without_key',
  request: 'request_link',
} as const

/** `-` stands for standard input. */
export async function secretLink(argument: string): Promise<Link & { kind: 'secret' | 'own' }> {
  const link = parseLink(await linkText(argument, 'Link (it is not shown): '))
  if (link.kind === 'secret' || link.kind === 'own') return link
  throw new SealedError(NOT_FOR_READING[link.kind])
}

export async function requestLink(argument: string): Promise<Link & { kind: 'request' }> {
  const link = parseLink(await linkText(argument, 'Request link (it is not shown): '))
  if (link.kind === 'request') return link
  throw new SealedError('not_request_link')
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

/** The lifetime of a secret from its option. */
export function parseTtl(given: string | boolean | undefined): number | undefined {
  if (typeof given !== 'string') return undefined
  const seconds = parseDuration('ttl', given)
  if (seconds >= MIN_TTL_SECONDS && seconds <= MAX_TTL_SECONDS) return seconds
  throw usageError('--ttl must be from 15m to 90d, such as 900s, 15m, 1h or 7d')
}
