/** The link that a command is about: its argument, standard input, or what is typed at the prompt. */
import { SealedError } from '@strongroom/sealed/crypto/errors'
import { type Link, parseLink } from '@strongroom/sealed/crypto/link'
import { unwrapped } from '@strongroom/sealed/crypto/pasted'
import { UsageError } from '../command.ts'
import { askHidden, openKeyboard } from './keyboard.ts'
import { readText } from '../read-stream.ts'

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
  if (argument !== '-') return unwrapped(argument)
  const text = process.stdin.isTTY
    ? await ask(question)
    : await readText(process.stdin, { maxBytes: MAX_BYTES, what: 'The link' })
  if (text === undefined) throw new SealedError('link_malformed')
  if (text.trim() === '') {
    throw new UsageError('There is no link: give it as an argument or to standard input')
  }
  return unwrapped(text)
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
