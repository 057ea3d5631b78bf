/**
 * Permissions that no scenario uses, and what in the code of the services needs them. The tests fail if
 * one is neither used nor listed, or is listed and used.
 */
export const rarePermissions: Readonly<Record<string, string>> = {}
