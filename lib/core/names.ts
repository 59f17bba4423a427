/** Folds a name for comparison: compatibility form, lower case, single spaces. */
export function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase().trim().replace(/\s+/gu, ' ');
}

/** The form in which asset ids are compared and stored: NFKC, upper case, single spaces. */
export function canonicalAsset(asset: string): string {
  return asset.normalize('NFKC').toUpperCase().trim().replace(/\s+/gu, ' ');
}
