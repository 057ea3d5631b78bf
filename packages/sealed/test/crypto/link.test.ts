import { describe, expect, test } from 'vitest'
import { SealedError } from '../../src/crypto/errors.ts'
import { formatLink, parseBase, parseLink } from '../../src/crypto/link.ts'
import { links } from './vectors.ts'

describe('a link', () => {
  test.each(links.valid)('is read and written alike: $link', ({ link, ...expected }) => {
    const parsed = parseLink(link)
    expect(parsed).toMatchObject(expected)
    expect(formatLink(parsed.base, parsed)).toBe(link)
  })

  test.each(links.refused)('is refused with $code: $link', ({ link, code }) => {
    expect(() => parseLink(link)).toThrow(SealedError)
    expect(() => parseLink(link)).toThrow(expect.objectContaining({ code }))
  })

  test('is never in the message of its refusal', () => {
    const keys = links.refused.map(({ link }) => link.split('#')[1] ?? '').filter(Boolean)
    const messages = links.refused.map(({ link }) => messageOf(() => parseLink(link)))
    expect(keys.filter((key) => messages.some((message) => message.includes(key)))).toEqual([])
  })

  test('may lack the slash before the #, as people type it', () => {
    expect(parseBase('https://host.example/sealed')).toBe('https://host.example/sealed/')
    expect(parseBase('https://host.example')).toBe('https://host.example/')
  })
})

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error.message
  }
  throw new Error('Nothing was refused')
}
