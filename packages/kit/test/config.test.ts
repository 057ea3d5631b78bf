import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  boolean,
  type ConfigType,
  directory,
  host,
  integer,
  list,
  oneOf,
  port,
  text,
  trustedProxies,
  url,
} from '../src/config-types.ts'
import { defineConfig } from '../src/config.ts'
import { Failure } from '../src/errors.ts'

const config = defineConfig({
  PORT: { type: port(), default: 4280, description: 'The port that the server listens on' },
  PUBLIC_URL: { type: url(), description: 'Where people reach the server' },
  STRONGROOM_STORE: {
    type: oneOf('embedded', 'aws'),
    default: 'embedded',
    description: 'Where items are kept',
  },
  STRONGROOM_DATA: {
    type: directory(),
    default: './data',
    description: 'The directory of the embedded store',
  },
  SMTP_PASSWORD: {
    type: integer({ min: 1, max: 9 }),
    secret: true,
    description: 'Signs in | to the mail server',
  },
  TRUSTED_PROXIES: {
    type: trustedProxies(),
    default: { hops: 0 },
    description: 'Who may name clients',
  },
})

function problems(env: Record<string, string>): readonly string[] {
  try {
    config.parse(env)
  } catch (error) {
    if (error instanceof Failure) return error.message.split('\n  ').slice(1)
    throw error
  }
  return []
}

describe('a configuration', () => {
  test('has the defaults of its table where nothing is set', () => {
    expect(config.parse({ PATH: '/bin', PORT: '', SMTP_PASSWORD: '  ' })).toEqual({
      PORT: 4280,
      PUBLIC_URL: undefined,
      STRONGROOM_STORE: 'embedded',
      STRONGROOM_DATA: './data',
      SMTP_PASSWORD: undefined,
      TRUSTED_PROXIES: { hops: 0 },
    })
  })

  test('has the types of its table', () => {
    const values = config.parse({})
    expectTypeOf(values.PORT).toEqualTypeOf<number>()
    expectTypeOf(values.PUBLIC_URL).toEqualTypeOf<string | undefined>()
    expectTypeOf(values.STRONGROOM_STORE).toEqualTypeOf<'embedded' | 'aws'>()
    const required = defineConfig({ NAME: { type: text(), required: true, description: 'Name' } })
    expectTypeOf(required.parse({ NAME: 'a' }).NAME).toEqualTypeOf<string>()
    // @ts-expect-error a default must be a value of the type
    defineConfig({ PORT: { type: port(), default: 'many', description: 'Port' } })
  })

  test('reads what is set', () => {
    const values = config.parse({
      PORT: ' 80 ',
      PUBLIC_URL: 'https://trust.example/',
      STRONGROOM_STORE: 'aws',
    })
    expect(values).toMatchObject({
      PORT: 80,
      PUBLIC_URL: 'https://trust.example',
      STRONGROOM_STORE: 'aws',
    })
    expect(Object.isFrozen(values)).toBe(true)
  })
})

describe('an invalid configuration', () => {
  test('is rejected with one line for each invalid variable', () => {
    const env = {
      PORT: 'abc',
      PUBLIC_URL: 'ftp://x',
      STRONGROOM_STORE: 'mysql',
      STRONGROOM_DATTA: '/data',
    }
    expect(problems(env)).toEqual([
      'PORT must be a whole number from 0 to 65535, but is "abc"',
      'PUBLIC_URL must be an http or https address without user, query and fragment, but is "ftp://x"',
      'STRONGROOM_STORE must be one of embedded, aws, but is "mysql"',
      'STRONGROOM_DATTA is not a setting: did you mean STRONGROOM_DATA?',
    ])
    expect(() => config.parse(env)).toThrow(/^The configuration is not valid\n {2}PORT must .*\n/)
  })

  test('names a missing variable and what it must be', () => {
    const required = defineConfig({ NAME: { type: host(), required: true, description: 'Name' } })
    expect(() => required.parse({ NAME: '' })).toThrow('NAME is required: a host name')
  })

  test('never shows the value of a secret', () => {
    expect(problems({ SMTP_PASSWORD: 'swordfish' })).toEqual([
      'SMTP_PASSWORD must be a whole number from 1 to 9, but is not',
    ])
  })

  test('is rejected for an unknown name with our prefix only, with a suggestion if one is close', () => {
    expect(problems({ STRONGROOM_STROE: 'aws', STRONGROOM_BANANA: '1', OTHER: 'x' })).toEqual([
      'STRONGROOM_BANANA is not a setting: remove it',
      'STRONGROOM_STROE is not a setting: did you mean STRONGROOM_STORE?',
    ])
  })
})

describe('a secret from a file', () => {
  const directoryPath = mkdtempSync(join(tmpdir(), 'config-'))
  const file = join(directoryPath, 'secret')
  writeFileSync(file, '7\n')

  test('is read from the file in the variable with _FILE', () => {
    expect(config.parse({ SMTP_PASSWORD_FILE: file }).SMTP_PASSWORD).toBe(7)
  })

  test('is rejected if it is given twice or cannot be read', () => {
    expect(problems({ SMTP_PASSWORD_FILE: file, SMTP_PASSWORD: '7' })).toEqual([
      'SMTP_PASSWORD and SMTP_PASSWORD_FILE are both set: remove one',
    ])
    expect(problems({ SMTP_PASSWORD_FILE: join(directoryPath, 'missing') })[0]).toMatch(
      /^SMTP_PASSWORD_FILE names a file that cannot be read \(ENOENT\)/,
    )
  })
})

describe('a configuration is shown', () => {
  test('as data', () => {
    expect(config.rows()[0]).toEqual({
      name: 'PORT',
      type: 'a whole number from 0 to 65535',
      default: '4280',
      required: false,
      secret: false,
      description: 'The port that the server listens on',
    })
    expect(config.rows().find(({ name }) => name === 'TRUSTED_PROXIES')?.default).toBe('0')
  })

  test('as a text table with one line for each setting', () => {
    const lines = config.toText().trimEnd().split('\n')
    expect(lines).toHaveLength(6)
    expect(lines[0]).toBe('PORT              4280       The port that the server listens on')
    expect(lines[1]).toBe('PUBLIC_URL        (not set)  Where people reach the server')
  })

  test('as Markdown', () => {
    const markdown = config.toMarkdown()
    expect(markdown).toContain(
      '| `PORT` | a whole number from 0 to 65535 | `4280` | The port that the server listens on. |',
    )
    expect(markdown).toContain(
      'Signs in \\| to the mail server. Secret: may be read from the file in `SMTP_PASSWORD_FILE`.',
    )
  })
})

describe('the types of settings', () => {
  const cases: [
    name: string,
    type: ConfigType<unknown>,
    good: [string, unknown][],
    bad: string[],
  ][] = [
    [
      'port',
      port(),
      [
        ['0', 0],
        ['65535', 65_535],
      ],
      ['65536', '-1', '1.5', '0x10', '1e3', '٣'],
    ],
    [
      'integer',
      integer({ min: -5, max: 5 }),
      [['-5', -5]],
      ['6', '--1', 'NaN', 'Infinity', '99999999999999999999'],
    ],
    [
      'boolean',
      boolean(),
      [
        ['TRUE', true],
        ['no', false],
        ['1', true],
        ['off', false],
      ],
      ['maybe', 'constructor', '2'],
    ],
    [
      'host',
      host(),
      [
        ['localhost', 'localhost'],
        ['::1', '::1'],
        ['0.0.0.0', '0.0.0.0'],
        ['a.example', 'a.example'],
      ],
      ['http://a', 'a:80', '1.2.3', '-a', 'a..b', 'a b'],
    ],
    [
      'url',
      url(),
      [
        ['http://a:8080/base/', 'http://a:8080/base'],
        ['HTTPS://A.example', 'https://a.example'],
      ],
      [
        'a.example',
        'https://u:p@a',
        'https://a?x=1',
        'https://a#x',
        'javascript:1',
        'https://a b',
        'https://',
        'https:\\\\a',
      ],
    ],
    ['origin', url({ originOnly: true }), [['https://a/', 'https://a']], ['https://a/path']],
    [
      'list',
      list(port()),
      [
        ['1, 2,,3', [1, 2, 3]],
        [',', []],
      ],
      ['1,x'],
    ],
    ['directory', directory(), [['./data', './data']], ['a\0b']],
    ['text', text(), [['anything', 'anything']], []],
    [
      'trusted proxies',
      trustedProxies(),
      [
        ['2', { hops: 2 }],
        ['10.0.0.0/8, fd00::/8,::1', { networks: ['10.0.0.0/8', 'fd00::/8', '::1'] }],
      ],
      [
        '-1',
        '10.0.0.0/33',
        'fd00::/129',
        'proxy',
        '10.0.0.0/8/8',
        '100',
        ',',
        '10.0.0.0/',
        'fe80::1%eth0',
      ],
    ],
  ]

  test.each(cases)('%s accepts what it expects and nothing else', (_, type, good, bad) => {
    for (const [given, value] of good) {
      expect(type.parse(given)).toEqual(value)
      expect(type.parse(type.format(value))).toEqual(value)
    }
    expect(bad.filter((given) => type.parse(given) !== undefined)).toEqual([])
  })
})
