import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SafeFetchError } from '../src/safe-fetch/error.ts'
import { addressPolicy } from '../src/safe-fetch/public-address.ts'
import { checkTargetUrl, type TargetPolicy } from '../src/safe-fetch/target-url.ts'

const strict: TargetPolicy = {
  permits: addressPolicy([]),
  allowHttp: false,
  allowLocalNames: false,
  ports: 'web',
}
const lenient: TargetPolicy = { ...strict, allowHttp: true, ports: 'unprivileged' }

function reason(url: string | URL, policy = lenient): string {
  try {
    checkTargetUrl(url, policy)
    return 'allowed'
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    return error.reason
  }
}

function at(port: number, ports: TargetPolicy['ports']): string {
  return reason(`https://example.com:${port}/`, { ...strict, ports })
}

describe('A target URL', () => {
  test.each([
    'https://example.com/hook?x=1',
    'https://hooks.example.co.uk:8443/',
    'https://bücher.example/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://localhost.example.com/',
    'https://internal.example.com/',
    'https://not-local.example/',
  ])('%s is allowed', (url) => {
    expect(reason(url, strict)).toBe('allowed')
  })

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://①②⑦.⓪.⓪.①/',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'http://0/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xA9.0xFE.0xA9.0xFE/',
    'http://168.63.129.16/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://localhost/',
    'http://LOCALHOST/',
    'http://ｌｏｃａｌｈｏｓｔ/',
    'http://app.localhost/',
    'http://printer.local/',
    'http://metadata.google.internal/',
    'http://internal.local/',
    'http://host.localdomain/',
    'http://router.lan/',
    'http://nas.home.arpa/',
    'http://metadata/',
    'http://redis:6379/',
  ])('%s is rejected as a blocked address', (url) => {
    expect(reason(url)).toBe('blocked_address')
  })

  test.each([
    '',
    'example.com',
    '//example.com/',
    '/hook',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:password@example.com/',
    'https://example.com./',
    'https://localhost./',
    'https://example.com。/',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[::1',
    'https://1.2.3.4.5/',
    'https://256.1.1.1/',
    'https://example.com:0/',
    'https://example.com:22/',
    'https://example.com:25/',
    'https://example.com:99999/',
    ' https://example.com/',
    'https://exam\nple.com/',
    'https://example.com/\r\nX: y',
    'https://example.com/\u0000',
  ])('%j is rejected as unusable', (url) => {
    expect(reason(url)).toBe('invalid_url')
  })

  test('must use https unless the operator allows http', () => {
    expect(reason('http://example.com/', strict)).toBe('invalid_url')
    expect(reason('http://example.com/', lenient)).toBe('allowed')
  })

  test('may use the ports of the policy only', () => {
    for (const port of [80, 443, 8080, 8443]) expect(at(port, 'web')).toBe('allowed')
    for (const port of [22, 1024, 3000, 6379]) expect(at(port, 'web')).toBe('invalid_url')
    expect(at(1023, 'unprivileged')).toBe('invalid_url')
    expect(at(1024, 'unprivileged')).toBe('allowed')
    expect(at(443, [80, 443])).toBe('allowed')
    expect(at(8443, [80, 443])).toBe('invalid_url')
  })

  test('may have a local name if the operator allows it, but no local address', () => {
    const policy = { ...lenient, allowLocalNames: true }
    expect(reason('http://app.internal:3000/', policy)).toBe('allowed')
    expect(reason('http://app:3000/', policy)).toBe('allowed')
    expect(reason('http://127.0.0.1:3000/', policy)).toBe('blocked_address')
  })

  test('is checked the same way if it is parsed already, and is not shared with the caller', () => {
    const url = new URL('https://example.com/')
    const checked = checkTargetUrl(url, strict)
    url.hostname = '127.0.0.1'
    expect(checked.hostname).toBe('example.com')
    expect(reason(url, strict)).toBe('blocked_address')
  })

  test('is rejected in every numeric spelling of every loopback address', () => {
    const byte = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(byte, byte, byte, (b, c, d) => {
        const number = ((127 << 24) | (b << 16) | (c << 8) | d) >>> 0
        const hosts = [
          `${number}`,
          `0x${number.toString(16)}`,
          `0${number.toString(8)}`,
          `127.${(b << 16) | (c << 8) | d}`,
          `127.${b}.${(c << 8) | d}`,
          `0177.0${b.toString(8)}.0x${c.toString(16)}.${d}`,
        ]
        for (const host of hosts) expect(reason(`http://${host}/`)).toBe('blocked_address')
      }),
    )
  })
})
