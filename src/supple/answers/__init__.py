"""What studies return: values that hold still, show themselves and leave as labelled data."""
