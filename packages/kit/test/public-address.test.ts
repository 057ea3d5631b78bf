import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressPolicy } from '../src/safe-fetch/public-address.ts'

const isPublicAddress = addressPolicy([])

const special = `
  0.0.0.0 0.0.0.1 0.255.255.255
  10.0.0.0 10.1.2.3 10.255.255.255
  100.64.0.0 100.100.100.200 100.127.255.255
  127.0.0.0 127.0.0.1 127.0.0.53 127.255.255.255
  169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255
  172.16.0.0 172.17.0.1 172.31.255.255
  192.0.0.0 192.0.0.192 192.0.0.255
  192.0.2.0 192.0.2.255
  192.31.196.0 192.31.196.255
  192.52.193.0 192.52.193.255
  192.88.99.0 192.88.99.255
  192.168.0.0 192.168.1.1 192.168.255.255
  192.175.48.0 192.175.48.255
  198.18.0.0 198.19.255.255
  198.51.100.0 198.51.100.255
  203.0.113.0 203.0.113.255
  224.0.0.0 239.255.255.255
  240.0.0.0 255.255.255.254 255.255.255.255
  168.63.129.16
  :: ::1 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001
  ::127.0.0.1 ::7f00:1 ::8.8.8.8
  ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe
  ::FFFF:192.168.0.1 0:0:0:0:0:ffff:c0a8:1 ::ffff:168.63.129.16
  ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8
  64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::8.8.8.8 64:ff9b:1::10.0.0.1 64:ff9b:1:ffff::1
  100:: 100::1 100:0:0:1::
  1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:: 2001:0:7f00:1::1 2001:0:ffff:ffff:ffff:ffff:ffff:ffff 2001:2::1 2001:10::1 2001:20::1
  2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
  2002:: 2002:7f00:1:: 2002:a9fe:a9fe::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2620:4f:8000:: 2620:4f:8000:ffff::
  3ffe::1 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
  4000:: 5f00::1 8000::1
  fc00:: fd00:ec2::254 fd20:ce::254 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fe80:: fe80::1 fe80::1%eth0 fe80::a9fe:a9fe%25lo febf:ffff::1
  fec0::1 feff::1
  ff00:: ff02::1 ff05::1:3 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`

const global = `
  1.0.0.0 1.1.1.1 8.8.8.8
  9.255.255.255 11.0.0.0
  100.63.255.255 100.128.0.0
  126.255.255.255 128.0.0.0
  168.63.129.15 168.63.129.17
  169.253.255.255 169.255.0.0
  172.15.255.255 172.32.0.0
  191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0
  192.31.195.255 192.31.197.0
  192.52.192.255 192.52.194.0
  192.88.98.255 192.88.100.0
  192.167.255.255 192.169.0.0
  192.175.47.255 192.175.49.0
  198.17.255.255 198.20.0.0
  198.51.99.255 198.51.101.0
  203.0.112.255 203.0.114.0
  223.255.255.255
  ::ffff:8.8.8.8 ::ffff:808:808
  2000:: 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:200:: 2001:4860:4860::8888
  2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
  2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003::
  2606:4700:4700::1111 2620:4f:7fff:ffff:: 2620:4f:8001::
  2a00:1450:4001::1 2a00:1450:4001::1%eth0
  3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000::
`

const dotted = (bytes: Buffer) => bytes.join('.')
const groups = (bytes: Buffer) =>
  `${bytes.readUInt16BE(0).toString(16)}:${bytes.readUInt16BE(2).toString(16)}`
const inverted = (bytes: Buffer) => groups(Buffer.from(bytes.map((value) => value ^ 0xff)))
const list = (text: string) => text.trim().split(/\s+/)

describe('An address', () => {
  test('table has enough addresses of both kinds', () => {
    expect(list(special).length).toBeGreaterThan(100)
    expect(list(global).length).toBeGreaterThan(50)
  })

  test.each(list(special))('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each(list(global))('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each([
    '',
    ' ',
    '8.8.8',
    '8.8.8.8 ',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '[::1]',
    'example.com',
    '2606:4700::1::1',
    '%eth0',
    '8.8.8.8/32',
    '\u0000',
  ])('that cannot be read is not public: "%s"', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

describe('Forms that carry an IPv4 address in an IPv6 one', () => {
  const byte = fc.integer({ min: 0, max: 255 })
  const privateV4 = fc
    .oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
      fc.tuple(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
    )
    .map((bytes) => Buffer.from(bytes))

  test('are rejected for every private address', () => {
    fc.assert(
      fc.property(privateV4, (v4) => {
        const forms = [
          dotted(v4),
          `::ffff:${dotted(v4)}`,
          `::ffff:${groups(v4)}`,
          `0:0:0:0:0:FFFF:${groups(v4).toUpperCase()}`,
          `::${dotted(v4)}`,
          `::ffff:0:${groups(v4)}`,
          `64:ff9b::${groups(v4)}`,
          `64:ff9b:1::${groups(v4)}`,
          `2002:${groups(v4)}::1`,
          `2001:0:${groups(v4)}::1`,
          `2001:0:808:808:0:0:${inverted(v4)}`,
        ]
        expect(forms.filter(isPublicAddress)).toEqual([])
      }),
      { numRuns: 1_000 },
    )
  })

  test('are treated like the mapped address itself', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), (bytes) => {
        const v4 = Buffer.from(bytes)
        expect(isPublicAddress(`::ffff:${groups(v4)}`)).toBe(isPublicAddress(dotted(v4)))
      }),
      { numRuns: 1_000 },
    )
  })

  test('are not public outside the allocated IPv6 space', () => {
    const outside = fc
      .ipV6()
      .filter((address) => !/^[23][0-9a-f]{3}:/i.test(address) && !/ffff:/i.test(address))
    fc.assert(
      fc.property(outside, (address) => {
        expect(isPublicAddress(address)).toBe(false)
      }),
    )
  })
})

describe("The operator's networks", () => {
  test('are allowed, and nothing else is', () => {
    const permits = addressPolicy(['127.0.0.1/32', '10.1.0.0/16', 'fd12:3456::/32'])
    for (const address of ['127.0.0.1', '10.1.255.255', 'fd12:3456::1', '8.8.8.8']) {
      expect(permits(address)).toBe(true)
    }
    for (const address of ['127.0.0.2', '10.0.255.255', '10.2.0.0', 'fd12:3457::1', '::1']) {
      expect(permits(address)).toBe(false)
    }
  })

  test('include the mapped form of an allowed IPv4 address', () => {
    expect(addressPolicy(['127.0.0.0/8'])('::ffff:127.0.0.1')).toBe(true)
  })

  test('in IPv6 never allow an IPv4 address, not even ::/0', () => {
    const permits = addressPolicy(['::/0', '::ffff:0:0/96'])
    expect(permits('::1')).toBe(true)
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254']) {
      expect(permits(address)).toBe(false)
    }
  })

  test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0/8', '::1/129', 'fd00::/', 'localhost/8', '/8', ''])(
    'that cannot be read stop the start with a clear message: "%s"',
    (cidr) => {
      expect(() => addressPolicy([cidr])).toThrow(`Invalid network "${cidr}"`)
    },
  )
})
