import { issueDetails } from '@strongroom/kit/http/validation'
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { applyTransform } from '../../src/transforms/apply.ts'
import { Transform } from '../../src/transforms/transform.ts'
import { received } from '../support/received-events.ts'

describe('a passthrough transform', () => {
  const bytes = Uint8Array.of(0xff, 0x00, 0x7b, 0xef, 0xbb, 0xbf)
  const event = received(bytes, { contentType: 'image/odd' })

  test.each([undefined, { type: 'passthrough' as const }])(
    'the bytes pass through unchanged (%j)',
    async (transform) => {
      const options = {
        sandbox: createSandbox(),
        scheduler: createWorkScheduler(),
        owner: 'usr_1',
      }
      const result = await applyTransform(transform, event, options)
      expect(result).toEqual({ kind: 'transformed', body: bytes, contentType: 'image/odd' })
    },
  )
})

describe('a transform is rejected with', () => {
  const map = (...rules: unknown[]) => ({ type: 'field_map', rules })
  const right = { from: '$.a', to: 'a' }
  const cases: [what: string, transform: unknown, path: string, message: RegExp][] = [
    ['an unknown type', { type: 'xslt' }, 'transform.type', /invalid/i],
    [
      'a passthrough with other fields',
      { type: 'passthrough', code: '' },
      'transform.code',
      /known field/,
    ],
    ['no rules', map(), 'transform.rules', />=1/],
    [
      'too many rules',
      map(...Array.from({ length: 101 }, () => right)),
      'transform.rules',
      /<=100/,
    ],
    [
      'an invalid source',
      map(right, { from: 'a', to: 'a' }),
      'transform.rules[1].from',
      /not a path/i,
    ],
    ['an invalid target', map({ from: '$.a', to: 'a b' }), 'transform.rules[0].to', /character 4/],
    [
      'a target with a wildcard',
      map({ from: '$.a', to: 'a[*]' }),
      'transform.rules[0].to',
      /wildcard/,
    ],
    [
      'a target among the headers',
      map({ from: '$.a', to: '$headers.a' }),
      'transform.rules[0].to',
      /body/,
    ],
    [
      'an index beyond the limit',
      map({ from: '$.a', to: 'a[100]' }),
      'transform.rules[0].to',
      /0 to 99/,
    ],
    ['a negative index', map({ from: '$.a', to: 'a[-1]' }), 'transform.rules[0].to', /0 to 99/],
    ['a rule without a source', map({ to: 'a' }), 'transform.rules[0].from', /required/],
    ['an unknown rule', map({ copy: '$.a', to: 'a' }), 'transform.rules[0].from', /required/],
    [
      'a deeply nested constant',
      map({ to: 'a', value: JSON.parse('['.repeat(9_000) + ']'.repeat(9_000)) as unknown }),
      'transform.rules[0].value',
      /deeply/,
    ],
    [
      'a removal from an empty start',
      map(right, { remove: '$.a' }),
      'transform.rules[1]',
      /"start"/,
    ],
    [
      'a rename in an empty start',
      map({ rename: '$.a', to: 'b' }),
      'transform.rules[0]',
      /"start"/,
    ],
    [
      'a removal of the whole body',
      { start: 'body', ...map({ remove: '$' }) },
      'transform.rules[0].remove',
      /part of the body/,
    ],
    [
      'a removal of a header',
      { start: 'body', ...map({ remove: '$headers.a' }) },
      'transform.rules[0].remove',
      /part of the body/,
    ],
    [
      'a rename of a wildcard',
      { start: 'body', ...map({ rename: '$.a[*]', to: 'b' }) },
      'transform.rules[0].rename',
      /wildcard/,
    ],
    ['no code', { type: 'javascript', code: '' }, 'transform.code', />=1/],
    [
      'code that is too long',
      { type: 'javascript', code: 'x'.repeat(50_001) },
      'transform.code',
      /<=50000/,
    ],
    [
      'code with a null character',
      { type: 'javascript', code: 'a\0b' },
      'transform.code',
      /null character/,
    ],
    [
      'code that is too long to store',
      { type: 'javascript', code: '"'.repeat(40_000) },
      'transform',
      /65536/,
    ],
  ]
  test.each(cases)('%s', (_what, transform, path, message) => {
    const { error } = Transform.safeParse(transform)
    const [detail] = issueDetails('transform', error?.issues ?? [])
    expect(detail?.path).toBe(path)
    expect(detail?.message).toMatch(message)
  })
})
