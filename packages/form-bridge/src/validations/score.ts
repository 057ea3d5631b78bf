/** The score of a domain: points of each check, weight of each category. */
import type { ValidationLevel } from './item.ts'

export const SCORE_TABLE = {
  domain_checks: {
    weight: 1.0,
    points: { valid_format: 30, not_blocked: 25, not_suspicious: 20, has_valid_tld: 25 },
  },
  dns_checks: {
    weight: 1.5,
    points: { dns_resolves: 60, has_a_record: 30, has_mx_record: 10 },
  },
  http_checks: {
    weight: 1.2,
    points: { responds_https: 40, responds_http: 20, valid_status_code: 25, has_content: 15 },
  },
  wordpress_checks: {
    weight: 2.0,
    points: {
      has_wp_indicators: 40,
      wp_json_accessible: 35,
      wp_admin_accessible: 15,
      wp_version_detected: 10,
    },
  },
  abuse_checks: {
    weight: 1.8,
    points: { not_in_blocklist: 40, registration_frequency_ok: 35, no_suspicious_patterns: 25 },
  },
  security_checks: {
    weight: 1.3,
    points: { ssl_available: 50, no_malware_indicators: 30, headers_secure: 20 },
  },
} as const

type ScoreTable = typeof SCORE_TABLE
export type Category = keyof ScoreTable
export type Checks = { [C in Category]: Record<keyof ScoreTable[C]['points'], boolean> }

export interface CategoryResult {
  score: number
  weight: number
  checks: Record<string, boolean>
}

const MIN_SCORE: Record<ValidationLevel, number> = { basic: 40, standard: 60, strict: 80 }

export function scoreChecks(checks: Checks, level: ValidationLevel) {
  const results: Record<string, CategoryResult> = {}
  let sum = 0
  let weights = 0
  for (const [category, { weight, points }] of Object.entries(SCORE_TABLE)) {
    const passed: Record<string, boolean> = checks[category as Category]
    const score = Object.entries(points).reduce(
      (total, [name, worth]) => total + (passed[name] ? worth : 0),
      0,
    )
    results[category] = { score, weight, checks: passed }
    // In tenths, because sums of decimal fractions are inexact.
    const tenths = Math.round(weight * 10)
    sum += score * tenths
    weights += tenths
  }
  const validation_score = Math.floor(sum / weights)
  return {
    validation_score,
    passes_validation: validation_score >= MIN_SCORE[level],
    validation_results: results,
  }
}
