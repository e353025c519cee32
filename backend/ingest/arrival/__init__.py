"""What arrives is stored verbatim: uploads, and texts with the runs made of them."""
