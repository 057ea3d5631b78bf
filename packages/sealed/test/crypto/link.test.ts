import { describe, expect, test } from 'vitest'
import { SealedError } from '../../src/crypto/errors.ts'
import {
  formatLink,
  parseBase,
  parseLink,
  repairEscapedHash,
  trimPastedLink,
} from '../../src/crypto/link.ts'
import { links } from './vectors.ts'

describe('a link', () => {
  test.each(links.valid)('is parsed and formatted unchanged: $link', ({ link, ...expected }) => {
    const parsed = parseLink(link)
    expect(parsed).toMatchObject(expected)
    expect(formatLink(parsed.base, parsed)).toBe(link)
  })

  test.each(links.refused)('is refused with $code: $link', ({ link, code }) => {
    expect(() => parseLink(link)).toThrow(SealedError)
    expect(() => parseLink(link)).toThrow(expect.objectContaining({ code }))
  })

  test('is never in its error message', () => {
    const keys = links.refused.map(({ link }) => link.split('#')[1] ?? '').filter(Boolean)
    const messages = links.refused.map(({ link }) => messageOf(() => parseLink(link)))
    expect(keys.filter((key) => messages.some((message) => message.includes(key)))).toEqual([])
  })

  test('can be written without the slash before the #', () => {
    expect(parseBase('https://host.example/sealed')).toBe('https://host.example/sealed/')
    expect(parseBase('https://host.example')).toBe('https://host.example/')
  })
})

describe('a link that was pasted', () => {
  test.each(links.valid)('is unchanged: $link', ({ link }) => {
    expect(trimPastedLink(link)).toBe(link)
  })

  test.each([
    ['a mail program', '<', '>'],
    ['a sentence', '', '.'],
    ['brackets', '(', ').'],
    ['quotes', '“', '”,'],
    ['lines', '\n ', ' \r\n'],
    ['a browser that escapes them', '%C2%AB%20%22%3C', '%3E%22%20%C2%BB'],
  ])('loses what %s put around it', (_, before, after) => {
    for (const { link } of links.valid) expect(trimPastedLink(before + link + after)).toBe(link)
  })

  test('gets its escaped characters back', () => {
    expect(trimPastedLink('id%3Akey')).toBe('id:key')
    expect(trimPastedLink('m%3aid%3atoken')).toBe('m:id:token')
    expect(trimPastedLink('%2Did:k%5fe%2dy')).toBe('-id:k_e-y')
  })

  test('is not completed by trimming', () => {
    for (const end of [':', '=', '==', 'A', '-', '_'])
      expect(trimPastedLink(`id:key${end}`)).toBe(`id:key${end}`)
  })
})

describe('a link whose # was escaped', () => {
  test.each(['%23', '%2523', '%25252523'])('is repaired from %s', (hash) => {
    for (const { link } of links.valid)
      expect(repairEscapedHash(link.replace('#', hash))).toBe(link)
  })

  test('is repaired with what was escaped with it', () => {
    const repair = (text: string) => trimPastedLink(repairEscapedHash(text))
    expect(repair('https://host/%23id%3Akey')).toBe('https://host/#id:key')
    expect(repair('https://host/%2523m%253aid%253Atoken')).toBe('https://host/#m:id:token')
  })

  test('is one only without a #', () => {
    for (const link of ['https://host/%23#id:key', 'https://host/', '%24id'])
      expect(repairEscapedHash(link)).toBe(link)
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
