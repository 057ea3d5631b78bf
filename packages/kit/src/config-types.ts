/** The types of settings: each parses text, describes what it expects, and formats its values. */
import { isIP } from 'node:net'
import { parseUrl } from './parse-url.ts'
import {
  parseTrustedProxies,
  formatTrustedProxies,
  type TrustedProxies,
} from './http/client-address.ts'

export interface ConfigType<T> {
  /** Completes "must be …". */
  readonly expects: string
  /** The value, or undefined when the text is not one. */
  parse(input: string): T | undefined
  format(value: T): string
}

export function text(): ConfigType<string> {
  return { expects: 'text', parse: (input) => input, format: String }
}

export function integer({ min, max }: { min: number; max: number }): ConfigType<number> {
  return {
    expects: `a whole number from ${min} to ${max}`,
    parse(input) {
      const value = /^-?\d{1,16}$/.test(input) ? Number(input) : Number.NaN
      return value >= min && value <= max ? value : undefined
    },
    format: String,
  }
}

/** 0 asks the system for a free port. */
export function port(): ConfigType<number> {
  return integer({ min: 0, max: 65_535 })
}

export function boolean(): ConfigType<boolean> {
  const words: Record<string, boolean> = {
    true: true,
    false: false,
    yes: true,
    no: false,
    on: true,
    off: false,
    1: true,
    0: false,
  }
  return {
    expects: 'true or false',
    parse: (input) =>
      Object.hasOwn(words, input.toLowerCase()) ? words[input.toLowerCase()] : undefined,
    format: String,
  }
}

export function oneOf<const T extends string>(...choices: readonly [T, ...T[]]): ConfigType<T> {
  return {
    expects: choices.length === 1 ? `"${choices[0]}"` : `one of ${choices.join(', ')}`,
    parse: (input) => choices.find((choice) => choice === input),
    format: String,
  }
}

const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

export function host(): ConfigType<string> {
  return {
    expects: 'a host name or an IP address, without scheme and port',
    parse: (input) =>
      isIP(input) !== 0 || (HOST_NAME.test(input) && !/^[\d.]+$/.test(input)) ? input : undefined,
    format: String,
  }
}

/** An http or https URL, without a trailing slash, so that paths can be appended. */
export function url({ originOnly = false }: { originOnly?: boolean } = {}): ConfigType<string> {
  return {
    expects: `an http or https address without user, query and fragment${originOnly ? ', and without a path' : ''}`,
    parse(input) {
      const parsed = /^https?:\/\/[^\s?#\\@]+$/i.test(input) ? parseUrl(input) : undefined
      if (!parsed || (originOnly && parsed.pathname !== '/')) return undefined
      return parsed.href.replace(/\/+$/, '')
    },
    format: String,
  }
}

export function network(): ConfigType<string> {
  return {
    expects: 'a network like 10.1.0.0/16 or fd12::/48',
    parse(input) {
      const [, address = '', bits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(input) ?? []
      const version = isIP(address)
      return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128) ? input : undefined
    },
    format: String,
  }
}

/** A path, unchanged; it is created and checked where it is used. */
export function directory(): ConfigType<string> {
  return {
    expects: 'the path of a directory',
    parse: (input) => (input.includes('\0') ? undefined : input),
    format: String,
  }
}

/** A path, unchanged; it is checked where it is used. */
export function file(): ConfigType<string> {
  return { ...directory(), expects: 'the path of a file' }
}

/** Values separated by commas, without empty ones. */
export function list<T>(of: ConfigType<T>): ConfigType<readonly T[]> {
  return {
    expects: `a list separated by commas, each entry ${of.expects}`,
    parse(input) {
      const values: T[] = []
      for (const part of input.split(',').map((each) => each.trim())) {
        if (part === '') continue
        const value = of.parse(part)
        if (value === undefined) return undefined
        values.push(value)
      }
      return values
    },
    format: (values) => values.map((value) => of.format(value)).join(','),
  }
}

export function trustedProxies(): ConfigType<TrustedProxies> {
  return {
    expects:
      'the number of proxies in front of the server, or their networks such as "10.0.0.0/8, fd00::/8"',
    parse: parseTrustedProxies,
    format: formatTrustedProxies,
  }
}
