import { describe, expect, it } from 'vitest'
import { escapeForTerminal } from '../src/output.ts'

describe('a secret shown on a terminal', () => {
  it.each([
    ['an escape sequence', '\u001b]0;title\u0007ls', '␛]0;title␇ls'],
    ['a sequence in one character', '\u009b31m', '<009b>31m'],
    ['a carriage return that hides what stands before it', 'rm -rf\rls', 'rm -rf␍ls'],
    ['a delete', 'a\u007fb', 'a␡b'],
    ['a change of direction', 'a\u202eb', 'a<202e>b'],
  ])('shows %s as symbols and is marked as inexact', (_, text, shown) => {
    expect(escapeForTerminal(text)).toEqual({ shown, isExact: false })
  })

  it('is exact with tabs, both kinds of line ends and every script', () => {
    const text = 'a\tb\r\nc\nüß 日本語 👩‍👩‍👧 e\u0301'
    expect(escapeForTerminal(text)).toEqual({ shown: text, isExact: true })
  })
})
